import { describe, expect, test } from '@jest/globals';
import { latencyOf, median, percentile } from './statistics.ts';

const oneToHundred = Array.from({ length: 100 }, (_, index) => 100 - index);

describe('percentile', () => {
  test('is the nearest rank, whatever the order', () => {
    expect([0.5, 0.99, 1, 0].map((share) => percentile(oneToHundred, share))).toEqual([50, 99, 100, 1]);
  });

  test('of few values is one of them', () => {
    expect([percentile([7], 0.99), percentile([1, 9], 0.5), percentile([1, 9], 0.51)]).toEqual([7, 1, 9]);
  });

  test('sorts numbers as numbers', () => {
    expect(percentile([9, 10, 100], 0.5)).toBe(10);
  });

  test('of nothing is no number', () => {
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe('median', () => {
  test('is the middle, or the mean of the two middle values', () => {
    expect([median([5, 1, 3]), median([4, 1, 3, 2]), median([6])]).toEqual([3, 2.5, 6]);
  });

  test('of nothing is no number', () => {
    expect(median([])).toBeNaN();
  });
});

test('a latency is told by its middle, its tail and its worst', () => {
  expect(latencyOf(oneToHundred)).toEqual({ p50Ms: 50, p99Ms: 99, maxMs: 100 });
});
