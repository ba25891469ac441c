import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareVersions, isNewer, isOlder, isStale } from './resource-version.ts';

const version = fc.bigInt({ min: 0n, max: 2n ** 80n });

describe('comparing resourceVersions', () => {
  test('agrees with the order of whole numbers, far beyond what a double holds', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const sign = Math.sign(compareVersions(String(a), String(b)) ?? Number.NaN);
        expect(sign).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  test('two versions that a double cannot tell apart are told apart', () => {
    expect(isNewer('9007199254740993', '9007199254740992')).toBe(true);
  });

  test('more digits are later, whatever the first one is', () => {
    expect(isNewer('10', '9')).toBe(true);
    expect(isOlder('9', '10')).toBe(true);
  });

  test('of versions that are no numbers nothing is sure, and none is dropped', () => {
    for (const [a, b] of [
      ['abc', 'abd'],
      ['7', undefined],
      [undefined, '7'],
      ['07', '7'],
    ] as const) {
      expect([isNewer(a, b), isOlder(a, b), isStale(a, b)]).toEqual([false, false, false]);
    }
  });

  test('the same version is stale', () => {
    expect(isStale('7', '7')).toBe(true);
    expect(isStale('abc', 'abc')).toBe(true);
  });
});
