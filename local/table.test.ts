import { describe, expect, test } from '@jest/globals';
import { ageOf, tableOf } from './table.ts';

describe('a table', () => {
  test('is as wide as its widest cells and has no trailing blanks', () => {
    expect(
      tableOf(
        ['NAME', 'READY'],
        [
          ['a-long-name', '1'],
          ['b', ''],
        ],
      ),
    ).toEqual(['NAME          READY', 'a-long-name   1', 'b']);
  });
  test('with no rows is its header', () => {
    expect(tableOf(['NAME', 'READY'], [])).toEqual(['NAME   READY']);
  });
});

test.each([
  [0, '0s'],
  [119_999, '119s'],
  [120_000, '2m'],
  [185_000, '3m5s'],
  [600_000, '10m'],
  [3 * 3_600_000, '3h'],
  [72 * 3_600_000, '3d'],
  [-5, '0s'],
])('an age of %d ms is shown as %s', (milliseconds, shown) => {
  expect(ageOf(milliseconds)).toBe(shown);
});
