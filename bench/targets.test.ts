import { describe, expect, test } from '@jest/globals';
import type { Leg } from './leg.ts';
import type { QuietPhase } from './quiet.ts';
import { throughputRatioOf, verdictsOf } from './targets.ts';

const leg = (who: Leg['who'], perSecond: number, writesPerResource = 3): Leg => ({
  who,
  n: 10,
  seconds: 10 / perSecond,
  createSeconds: 0.1,
  perSecond,
  latency: { p50Ms: 1, p99Ms: 2, maxMs: 3 },
  requestsPerResource: {},
  writesPerResource,
  getsPerResource: 0,
  loadAverage: 1,
});

const quiet = (phase: QuietPhase['phase'], writes = 0, gets = 0): QuietPhase => ({
  ...{ phase, writes, gets },
  seconds: 4,
  reconciles: 20,
  lists: 3,
  requests: {},
});

const legs = [leg('floor', 100), leg('operator', 80, 3.03), leg('operator', 76), leg('floor', 120)];

describe('the targets', () => {
  test('compare the medians of the legs', () => {
    expect(throughputRatioOf(legs)).toBeCloseTo(78 / 110);
  });

  test('are met by an operator that is fast and thrifty', () => {
    const verdicts = verdictsOf(legs, [quiet('at rest'), quiet('restart')]);
    expect(verdicts.map(({ isMet }) => isMet)).toEqual([true, true, true, true, true, true]);
    expect(verdicts.filter(({ isCounted }) => !isCounted).map(({ target }) => target)).toEqual([
      'throughput, ratio to the floor >= 0.7',
    ]);
  });

  test('judge the thrift of the worst leg', () => {
    const verdict = (writes: number) => verdictsOf([...legs, leg('operator', 80, writes)], [])[1];
    expect(verdict(3.14)).toMatchObject({ isMet: true, isCounted: true });
    expect(verdict(3.16)).toMatchObject({ isMet: false, isCounted: true });
  });

  test('are missed by one request too many, and by slowness', () => {
    const slow = [leg('floor', 100), leg('operator', 69)];
    const verdicts = verdictsOf(slow, [quiet('at rest', 1), quiet('restart', 0, 1)]);
    expect(verdicts.filter(({ isMet }) => !isMet)).toEqual([
      { target: 'throughput, ratio to the floor >= 0.7', got: 0.69, isMet: false, isCounted: false },
      { target: 'writes, at rest: 0', got: 1, isMet: false, isCounted: true },
      { target: 'GETs, restart: 0', got: 1, isMet: false, isCounted: true },
    ]);
  });

  test('are missed when there is nothing to judge', () => {
    expect(verdictsOf([], []).map(({ isMet }) => isMet)).toEqual([false, false]);
  });
});
