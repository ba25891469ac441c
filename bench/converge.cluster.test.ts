import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Report } from './report.ts';

const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'));
const out = join(folder, 'report.json');

/** The whole bench on a small number, as a user starts it. Times are not looked at: this keeps it alive and its answers right. */
describe('npm run bench', () => {
  let stdout: string;
  let report: Report;

  beforeAll(async () => {
    const args = [join(import.meta.dirname, 'converge.ts'), '--n=20', '--concurrency=4', `--out=${out}`];
    // Rejects with what it said when it does not end with 0: then an answer was wrong or a counted target missed.
    ({ stdout } = await promisify(execFile)(process.execPath, args));
    report = JSON.parse(readFileSync(out, 'utf8')) as Report;
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  test('runs floor and operator in turn', () => {
    expect(report.legs.map(({ who, n }) => `${who} ${n}`)).toEqual([
      'floor 20',
      'operator 20',
      'operator 20',
      'floor 20',
    ]);
    expect(report.options).toEqual({ n: 20, concurrency: 4, rounds: 1 });
  });

  test('counts the same least writes for both, at the server', () => {
    for (const { requestsPerResource, writesPerResource } of report.legs) {
      expect(requestsPerResource).toEqual({
        'POST deployments.apps': 1,
        'POST services': 1,
        'PATCH webservers.webserver.example.com/status': 1,
      });
      expect(writesPerResource).toBe(3);
    }
  });

  test('sees nothing sent at rest and after a restart', () => {
    expect(report.quiet.map(({ phase, writes, gets }) => [phase, writes, gets])).toEqual([
      ['at rest', 0, 0],
      ['restart', 0, 0],
      ['at rest after restart', 0, 0],
    ]);
    const [atRest, restart, again] = report.quiet.map(({ reconciles }) => reconciles);
    expect([atRest! >= 40, restart! >= 20, again! >= 40]).toEqual([true, true, true]);
  });

  test('prints what it writes', () => {
    expect(stdout).toContain('WebServers per second');
    for (const { target } of report.verdicts) expect(stdout).toContain(target);
  });
});
