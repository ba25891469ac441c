import { describe, expect, test } from '@jest/globals';
import { answerProbe, type Check } from './checks.ts';

const passing = (name: string): Check => ({ name, problem: () => undefined });
const failing = (name: string, problem: string): Check => ({ name, problem: () => problem });
const probes = {
  '/healthz': [passing('ping'), passing('workers')],
  '/readyz': [passing('ping'), failing('cache-pods', 'not synced: Forbidden')],
  '/livez': [],
};
const get = (target: string) => {
  const url = new URL(target, 'http://localhost');
  return answerProbe(probes, url.pathname, url.searchParams);
};

describe('a probe', () => {
  test('says no more than ok while everything passes', () => {
    expect(get('/healthz')).toEqual({ status: 200, body: 'ok' });
    expect(get('/healthz/')).toEqual({ status: 200, body: 'ok' });
    expect(get('/livez')).toEqual({ status: 200, body: 'ok' });
  });

  test('lists its checks on request', () => {
    expect(get('/healthz?verbose')).toEqual({ status: 200, body: '[+]ping ok\n[+]workers ok\nhealthz check passed\n' });
  });

  test('fails with the list when one check fails, and keeps the reason to itself', () => {
    expect(get('/readyz')).toEqual({
      status: 500,
      body: '[+]ping ok\n[-]cache-pods failed: reason withheld\nreadyz check failed\n',
    });
  });

  test('tells the reason at the path of the check', () => {
    expect(get('/readyz/cache-pods')).toEqual({ status: 500, body: 'internal server error: not synced: Forbidden\n' });
    expect(get('/readyz/ping')).toEqual({ status: 200, body: 'ok' });
  });

  test('leaves out what is excluded, and says when there is no such check', () => {
    expect(get('/readyz?exclude=cache-pods')).toEqual({ status: 200, body: 'ok' });
    expect(get('/readyz?exclude=cache-pods&verbose').body).toBe(
      '[+]ping ok\n[+]cache-pods excluded: ok\nreadyz check passed\n',
    );
    expect(get('/healthz?exclude=<script>&verbose').body).toBe(
      '[+]ping ok\n[+]workers ok\nwarn: some health checks cannot be excluded: no matches for them\nhealthz check passed\n',
    );
  });

  test('is not found under another path', () => {
    for (const path of ['/', '/metrics', '/healthz/nope', '/readyz/ping/x', '/constructor', '/__proto__'])
      expect(get(path).status).toBe(404);
  });
});
