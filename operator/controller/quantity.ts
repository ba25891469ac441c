/** Equality of amounts: the server stores `1000m` as `1` and `2048Mi` as `2Gi`. Exact, for any spelling that Kubernetes knows. */

const spelling = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,2}))?$/;
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: readonly string[] = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** No power in a quantity is lower: nothing finer than nano, exponents of two digits, a few digits of fraction. */
const scale = 200;

/** The amount times 10^200; undefined for what is not a quantity. */
function scaled(value: unknown): bigint | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > 64) return undefined;
  const [, sign, whole = '', fraction = '', suffix = '', exponent = '0'] = spelling.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const power = (decimal[suffix] ?? 0) + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction) * 10n ** BigInt(scale + power) * 1024n ** BigInt(binary.indexOf(suffix) + 1);
  return sign === '-' ? -digits : digits;
}

/** Whether both are quantities, and of the same amount. */
export function isSameQuantity(one: unknown, other: unknown): boolean {
  const amount = scaled(one);
  return amount !== undefined && amount === scaled(other);
}
