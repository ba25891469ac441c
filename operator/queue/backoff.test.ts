import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ceilingMs, defaultPace, delayMs } from './backoff.ts';
import { Bucket } from './bucket.ts';

const pace = fc
  .record({ baseMs: fc.integer({ min: 1, max: 60_000 }), factor: fc.integer({ min: 1, max: 10_000 }) })
  .map(({ baseMs, factor }) => ({ baseMs, maxMs: baseMs * factor }));
const failures = fc.integer({ min: 1, max: 5_000 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('backoff', () => {
  test('the default waits a tenth of a second first and five minutes at most', () => {
    const ceilings = [1, 2, 3, 4, 12, 13, 1000].map((count) => ceilingMs(defaultPace, count));
    expect(ceilings).toEqual([100, 200, 400, 800, 204_800, 300_000, 300_000]);
  });

  test('a ceiling never falls with more failures and never passes the maximum', () => {
    fc.assert(
      fc.property(pace, failures, (of, count) => {
        expect(ceilingMs(of, count + 1)).toBeGreaterThanOrEqual(ceilingMs(of, count));
        expect(ceilingMs(of, count)).toBeLessThanOrEqual(of.maxMs);
      }),
    );
  });

  test('jitter takes away half of the ceiling at most and adds nothing', () => {
    fc.assert(
      fc.property(pace, failures, random, (of, count, drawn) => {
        const delay = delayMs(of, count, () => drawn);
        expect(delay).toBeGreaterThan(ceilingMs(of, count) / 2 - 1e-6);
        expect(delay).toBeLessThanOrEqual(ceilingMs(of, count));
      }),
    );
  });
});

describe('the bucket', () => {
  test('gives its burst at once, then one each tenth of a second', () => {
    const bucket = new Bucket({ perSecond: 10, burst: 3 }, 0);
    expect([0, 0, 0, 0].map((now) => bucket.take(now))).toEqual([true, true, true, false]);
    expect(bucket.waitMs(0)).toBe(100);
    expect(bucket.take(99)).toBe(false);
    expect(bucket.take(100)).toBe(true);
    expect(bucket.take(100)).toBe(false);
  });

  test('a token given back can be taken at once', () => {
    const bucket = new Bucket({ perSecond: 10, burst: 1 }, 0);
    bucket.take(0);
    bucket.giveBack();
    expect(bucket.waitMs(0)).toBe(0);
    expect(bucket.take(0)).toBe(true);
  });

  test('it never holds more than its burst', () => {
    const bucket = new Bucket({ perSecond: 10, burst: 2 }, 0);
    bucket.giveBack();
    expect([1, 2, 3].map(() => bucket.take(3_600_000))).toEqual([true, true, false]);
  });

  test('takes in any span are at most the burst and what the rate adds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }), (steps) => {
        const bucket = new Bucket({ perSecond: 10, burst: 5 }, 0);
        let now = 0;
        let taken = 0;
        for (const step of steps) {
          now += step;
          if (bucket.take(now)) taken += 1;
        }
        expect(taken).toBeLessThanOrEqual(5 + now / 100);
      }),
    );
  });

  test('a clock that steps back gives no tokens and breaks nothing', () => {
    const bucket = new Bucket({ perSecond: 10, burst: 1 }, 10_000);
    bucket.take(10_000);
    expect(bucket.take(5_000)).toBe(false);
    expect(bucket.take(5_100)).toBe(true);
  });
});
