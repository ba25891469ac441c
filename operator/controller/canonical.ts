/** One value, one text: what hashes and comparisons of JSON rest on. */
import { createHash } from 'node:crypto';

type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy with the keys of every object in order and without what JSON does not hold. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) if (value[key] !== undefined) result[key] = sorted(value[key]);
  return result;
}

/** Whether two values are the same JSON: keys in any order, undefined like absent. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((part, index) => isSameJson(part, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = [...Object.keys(one), ...Object.keys(other)];
  return keys.every((key) => isSameJson(one[key], other[key]));
}

/** 64 bits in hexadecimal: enough to tell versions of one manifest apart, short enough to read. */
export const shortHash = (sortedValue: unknown): string =>
  createHash('sha256').update(JSON.stringify(sortedValue)).digest('hex').slice(0, 16);

/** Makes a value and all it holds unchangeable, in place. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
