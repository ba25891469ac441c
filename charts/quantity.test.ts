import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalQuantity } from './quantity.ts';

describe('a canonical quantity', () => {
  // Taken from a real API server: charts/synth.cluster.test.ts asks one for the same list.
  test.each([
    ['1000m', '1'],
    ['1', '1'],
    ['0.5', '500m'],
    ['1.5', '1500m'],
    ['0', '0'],
    ['0Mi', '0'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1024Mi', '1Gi'],
    ['2048Mi', '2Gi'],
    ['1.5Gi', '1536Mi'],
    ['512Ki', '512Ki'],
    ['0.5Ki', '512'],
    ['0.001Gi', '1073741824m'],
    ['1000k', '1M'],
    ['0.0001', '1m'],
    ['1.0005', '1001m'],
  ])('of %s is %s', (written, canonical) => {
    expect(canonicalQuantity(written)).toBe(canonical);
  });

  test.each(['', '1x', '1n', '-1', '1e3', '1 Gi', '1.2.3', 'Mi'])(
    'does not exist for %j, and the error says what to write',
    (text) => {
      expect(() => canonicalQuantity(text)).toThrow(
        `'${text}' is not a quantity: write for example '500m', '1.5' or '64Mi'`,
      );
    },
  );

  test('stays as it is when it is canonical already', () => {
    const written = fc.tuple(
      fc.bigInt(1n, 10n ** 7n),
      fc.constantFrom('m', '', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti'),
    );
    fc.assert(
      fc.property(written, ([amount, suffix]) => {
        const canonical = canonicalQuantity(`${amount}${suffix}`);
        expect(canonicalQuantity(canonical)).toBe(canonical);
      }),
    );
  });

  test('is the same amount', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 7n), (mebibytes) => {
        const [, digits = '', suffix = ''] = /^(\d+)(Mi|Gi|Ti|Pi)$/.exec(canonicalQuantity(`${mebibytes}Mi`)) ?? [];
        expect(BigInt(digits) * 1024n ** BigInt(['Mi', 'Gi', 'Ti', 'Pi'].indexOf(suffix))).toBe(mebibytes);
      }),
    );
  });
});
