/** Values and paths as the API server prints them in its answers, that is, as Go does. */
import { isList, isObject } from './json-schema.ts';

/** Why a value is refused, as `details.causes[].reason` of the API server's answer says it. */
export type Reason =
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueRequired'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany';

/** One thing that is wrong, and where; `path: message` reads as the API server's answer does. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly reason: Reason;
}

/** The path of a field in an object: `spec` and `port` give `spec.port`. */
export const fieldAt = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Go's %q: control and other unprintable characters escaped. */
export function quoted(text: string): string {
  const named: Readonly<Record<string, string>> = {
    '"': '\\"',
    '\\': '\\\\',
    '\u0007': '\\a',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\v': '\\v',
  };
  const escaped = text.replace(/["\\\p{C}]|(?! )\p{Z}/gu, (sign) => named[sign] ?? byCode(sign.codePointAt(0) ?? 0));
  return `"${escaped}"`;
}

function byCode(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Whether the number is an integer of 64 bits in JSON; the server reads every other one as floating point. */
export const isInt64 = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(value as number) < 2 ** 63;

/** Go's %v for floating point: an exponent, of two digits at least, below 1e-04 and from 1e+06 on. */
export function printedFloat(value: number): string {
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** A value in an error: scalars by themselves, everything else as JSON with sorted keys. */
export function printed(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' && !isInt64(value)) return printedFloat(value);
  return goJson(value);
}

function goJson(value: unknown): string {
  if (isList(value)) return `[${value.map(goJson).join(',')}]`;
  if (isObject(value)) {
    const fields = Object.keys(value)
      .sort()
      .map((name) => `${goJson(name)}:${goJson(value[name])}`);
    return `{${fields.join(',')}}`;
  }
  const json = JSON.stringify(value);
  return json.replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value that is not as it must be: `Invalid value: 11: …`. */
export const invalid = (path: string, value: unknown, detail: string): Problem => ({
  path,
  message: `Invalid value: ${printed(value)}: ${detail}`,
  reason: 'FieldValueInvalid',
});
