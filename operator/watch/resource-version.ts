/** Comparing resourceVersions: decimal numbers that may exceed what a double holds (KEP-5504), without parsing them. */

const decimal = /^(0|[1-9][0-9]*)$/;

/** Below, equal to or above zero, like a sort function; undefined when the two cannot be compared. */
export const compareVersions = (a: string | undefined, b: string | undefined): number | undefined => {
  if (a === b) return 0;
  if (a === undefined || b === undefined || !decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
};

/** Surely later. Of versions that cannot be compared nothing is sure. */
export const isNewer = (a: string | undefined, b: string | undefined): boolean => (compareVersions(a, b) ?? 0) > 0;

/** Surely earlier. */
export const isOlder = (a: string | undefined, b: string | undefined): boolean => (compareVersions(a, b) ?? 0) < 0;

/** Earlier or the same. Servers that do not number their versions are taken at their order of arrival: false. */
export const isStale = (a: string | undefined, b: string | undefined): boolean => (compareVersions(a, b) ?? 1) <= 0;
