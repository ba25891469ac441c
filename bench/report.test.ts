import { describe, expect, test } from '@jest/globals';
import type { Leg } from './leg.ts';
import { linesOf, type Report } from './report.ts';

const floor: Leg = {
  who: 'floor',
  n: 1000,
  seconds: 8,
  createSeconds: 2,
  perSecond: 125,
  latency: { p50Ms: 812.4, p99Ms: 1499.6, maxMs: 1600 },
  requestsPerResource: { 'POST services': 1 },
  writesPerResource: 3,
  getsPerResource: 0,
  cost: {
    cpuMsPerResource: { worker: 1.234, apiserver: 5.5, etcd: 1.25, generator: 0.5 },
    peakRssMiB: 99.6,
    steadyRssMiB: 80.2,
    foreignShare: 0.123,
  },
  loadAverage: 2.04,
};
const { cost: _cost, ...bare } = floor;

const report: Report = {
  when: '2026-01-02T03:04:05.678Z',
  commit: 'abc1234+',
  machine: {
    processors: 2,
    processor: 'Abacus',
    memoryGiB: 7.8,
    platform: 'linux x64',
    node: 'v24.0.0',
    kubernetes: 'v1.36.2',
  },
  options: { n: 1000, concurrency: 10, rounds: 1 },
  creators: 16,
  legs: [floor, { ...bare, who: 'operator', requestsPerResource: { 'PATCH webservers/status': 1.5 } }],
  quiet: [
    { phase: 'at rest', seconds: 4.04, reconciles: 2000, writes: 0, gets: 1, lists: 3, rssMiB: 70.4, requests: {} },
  ],
  verdicts: [
    { target: 'fast', got: 0.7512, isMet: true, isCounted: false },
    { target: 'silent', got: 1, isMet: false, isCounted: true },
  ],
};

describe('the report', () => {
  const lines = linesOf(report);

  test('begins with what was run, and on what', () => {
    expect(lines.slice(0, 2)).toEqual([
      '1000 WebServers a leg, 16 creates at a time, 10 worked on at a time',
      'commit abc1234+, Kubernetes v1.36.2, Node v24.0.0, linux x64, 2 x Abacus, 8 GiB',
    ]);
  });

  test.each([
    ['WebServers per second', '125.0', '125.0'],
    ['  creates alone, per second', '500.0', '500.0'],
    ['latency p50, ms', '812', '812'],
    ['latency p99, ms', '1500', '1500'],
    ['CPU ms per WebServer: this process', '1.23', 'n/a'],
    ['  all four', '8.48', 'n/a'],
    ['RSS peak, MiB', '100', 'n/a'],
    ["others' share of the processors", '12 %', 'n/a'],
    ['load average', '2.0', '2.0'],
    ['POST services', '1.000', '0.000'],
    ['PATCH webservers/status', '0.000', '1.500'],
  ])('has a line %j with a column for each leg', (title, ...figures) => {
    const line = lines.find((each) => each.startsWith(`${title} `)) ?? '';
    expect(line.slice(title.length).trim().split(/ {2,}/)).toEqual(figures);
  });

  test('says what happened when there was nothing to do', () => {
    expect(lines.find((line) => line.startsWith('at rest'))?.split(/ {2,}/)).toEqual([
      'at rest',
      '4.0',
      '2000',
      '0',
      '1',
      '3',
      '70',
    ]);
  });

  test('ends with the verdicts', () => {
    expect(lines.slice(-2).map((line) => line.split(/ {2,}/))).toEqual([
      ['fast', '0.751', 'PASS'],
      ['silent', '1', 'MISS'],
    ]);
  });
});
