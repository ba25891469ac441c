/** Amounts of a resource such as `500m` or `64Mi`, spelt as the API server stores them. */

const decimalSuffixes = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const thousand = 1000n;

/**
 * The canonical spelling: no fraction, the largest suffix that loses nothing. The server rewrites every quantity so (`1000m` becomes
 * `1`, `2048Mi` becomes `2Gi`), and desired objects are compared with stored ones. Throws for what is not a quantity.
 */
export function canonicalQuantity(text: string): string {
  const [, whole, fraction = '', suffix = ''] = /^(\d+)(?:\.(\d+))?([mkMGTPE]|[KMGTPE]i)?$/.exec(text) ?? [];
  if (whole === undefined)
    throw new Error(`'${text}' is not a quantity: write for example '500m', '1.5' or '64Mi', without sign or exponent`);
  const digits = BigInt(whole + fraction);
  const millis = dividedUp(digits * millisPer(suffix), 10n ** BigInt(fraction.length));
  const isBinary = suffix.endsWith('i') && millis >= 1024n * thousand && millis % thousand === 0n;
  return isBinary ? shortest(millis / thousand, 1024n, binarySuffixes) : shortest(millis, thousand, decimalSuffixes);
}

const millisPer = (suffix: string): bigint =>
  suffix.endsWith('i')
    ? thousand * 1024n ** BigInt(binarySuffixes.indexOf(suffix))
    : thousand ** BigInt(decimalSuffixes.indexOf(suffix));

/** The server rounds what is finer than a thousandth up. */
const dividedUp = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by;

function shortest(amount: bigint, base: bigint, suffixes: readonly string[]): string {
  if (amount === 0n) return '0';
  let rest = amount;
  let index = 0;
  while (rest % base === 0n && index < suffixes.length - 1) {
    rest /= base;
    index += 1;
  }
  return `${rest}${suffixes[index] ?? ''}`;
}
