/**
 * Formats of strings that the API server checks and that can be checked here to the letter, oddities included (schema.cluster.test.ts
 * holds both to the same texts). Formats that only the Go library at hand decides (uri, email, mac, isbn …) are left out: use a pattern, or a CEL
 * rule such as `isURL(self)`.
 */
import { isIPv4, isIPv6 } from 'node:net';

export type Format = keyof typeof checks;

const checks = {
  /** RFC 3339, such as 2026-01-02T03:04:05Z. Rules see a timestamp. */
  'date-time': isDateTime,
  /** 2026-01-02. Rules see a timestamp. */
  date: isDate,
  /** Go's 1h30m, also 5 min or 2 weeks. Rules see a duration. */
  duration: isDuration,
  /** Base64 with padding; not empty. Rules see bytes. */
  byte: (text: string) => base64.test(text),
  uuid: (text: string) => uuid.test(text),
  /** An IPv4 address, also one written as IPv6. */
  ipv4: (text: string) => text.includes('.') && isAddress(text),
  ipv6: (text: string) => isIPv6(text) && !text.includes('%'),
  cidr: isCidr,
  hostname: isHostname,
  /** A DNS label of RFC 1123: what most names in Kubernetes are. Kubernetes 1.34. */
  'k8s-short-name': (text: string) => text.length <= 63 && shortName.test(text),
  /** A DNS name of such labels. Kubernetes 1.34. */
  'k8s-long-name': (text: string) => text.length <= 253 && longName.test(text),
} as const satisfies Readonly<Record<string, (text: string) => boolean>>;

/** Whether it is a format of this language. */
export const isFormat = (name: string): name is Format => Object.hasOwn(checks, name);

/** Whether the text has the format. An unknown format is not checked, as the API server does it. */
export const hasFormat = (format: string, text: string): boolean => !isFormat(format) || checks[format](text);

/** The formats by name. */
export const formats = Object.keys(checks) as readonly Format[];

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const shortName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const longName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  // Not by Date.UTC, which takes years below 100 for those of the last century.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

const dateTime = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,]\d+)?(?:Z|[+-](\d{2}):(\d{2}))$/;

/** Offsets go to 24:60, as in Go. */
function isDateTime(text: string): boolean {
  const [, date = '', hour = '', minute = '', second = '', hours = '00', minutes = '00'] = dateTime.exec(text) ?? [];
  return isDate(date) && hour <= '23' && minute <= '59' && second <= '59' && hours <= '24' && minutes <= '60';
}

const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const looseUnit = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/;

/** Go's own durations, or else any text in which a number stands before a unit. */
function isDuration(text: string): boolean {
  const parts = [...text.matchAll(/(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)];
  // More than 64 bits is an error to Go wherever it stands.
  if (parts.some((part) => BigInt(part[1] ?? 0) >= 2n ** 63n)) return false;
  return goDuration.test(text) || parts.some((part) => looseUnit.test((part[2] ?? '').toLowerCase()));
}

/** For ipv4 and cidr the server takes leading zeros, which Node does not. */
function isAddress(text: string): boolean {
  const plain = text.replaceAll(/(^|[:.])0+(?=[0-9A-Fa-f])/g, '$1');
  return isIPv4(plain) || (isIPv6(plain) && !plain.includes('%'));
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 0 || !/^\d+$/.test(bits) || !isAddress(address)) return false;
  return Number(bits) <= (address.includes(':') ? 128 : 32);
}

const label = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u;
const dotted =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63}$/u;

function isHostname(text: string): boolean {
  const bytes = (part: string): number => Buffer.byteLength(part);
  if (bytes(text) > 255 || text.split('.').some((part) => bytes(part) > 63)) return false;
  return label.test(text) || dotted.test(text);
}
