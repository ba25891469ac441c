import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalQuantity } from '../../charts/quantity.ts';
import { isSameQuantity } from './quantity.ts';

describe('amounts', () => {
  test.each([
    ['1000m', '1'],
    ['2048Mi', '2Gi'],
    [1, '1'],
    [0.5, '500m'],
    ['1.5', '1500m'],
    ['0', '0'],
    ['1e3', '1k'],
    ['12E-1', '1200m'],
    ['1E', '1000P'],
    ['.5', '0.5'],
    ['+1', '1'],
    ['1024Ki', '1Mi'],
  ])('%s and %s are the same', (one, other) => expect(isSameQuantity(one, other)).toBe(true));

  test.each([
    ['1', '1m'],
    ['1M', '1Mi'],
    ['1', '2'],
    ['-1', '1'],
    ['100000000000000000001', '100000000000000000000'],
  ])('%s and %s differ', (one, other) => expect(isSameQuantity(one, other)).toBe(false));

  test.each([['web'], [''], ['1 '], ['1KiB'], [null], [true], ['1e999']])(
    '%j is no amount, not even its own',
    (value) => expect(isSameQuantity(value, value)).toBe(false),
  );

  test('any spelling is the same as the one that the server makes of it', () => {
    const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), suffix, (amount, unit) => {
        expect(isSameQuantity(`${amount}${unit}`, canonicalQuantity(`${amount}${unit}`))).toBe(true);
        expect(isSameQuantity(`${amount}${unit}`, `${amount + 1}${unit}`)).toBe(false);
      }),
    );
  });
});
