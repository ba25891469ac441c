/** The three ways to patch, as far as the operator uses them. They change the object that they are given. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../charts/resource.ts';
import type { MutableObject } from './state.ts';

type Json = Record<string, unknown>;

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7386: null removes, maps merge, all else replaces. */
export const mergePatchTo = (target: Json, patch: Json): void => {
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) Reflect.deleteProperty(target, key);
    else if (isMap(value)) {
      if (!isMap(target[key])) target[key] = {};
      mergePatchTo(target[key] as Json, value);
    } else target[key] = value;
  }
};

/** Server-side apply with force, simplified: maps merge, lists are replaced, and nothing is removed that is no longer sent. */
export const applyTo = (target: MutableObject, given: KubeObject): void => {
  const { managedFields: _, ...metadata } = given.metadata;
  mergePatchTo(target, { ...given, metadata });
};

interface Operation {
  readonly op: 'test' | 'replace' | 'add' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

const keysOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

/** RFC 6902, the four operations that are used. Throws when a test fails or a path leads nowhere. */
export const jsonPatchTo = (target: MutableObject, patch: readonly Operation[]): void => {
  for (const operation of patch) {
    const keys = keysOf(operation.path);
    const last = keys.pop() ?? '';
    let at: unknown = target;
    for (const key of keys) at = (at as Json | undefined)?.[key];
    if (typeof at !== 'object' || at === null) throw new Error(`the path ${operation.path} does not exist`);
    if (operation.op === 'test') expectValue((at as Json)[last], operation);
    else if (Array.isArray(at)) patchList(at, last, operation);
    else patchMap(at as Json, last, operation);
  }
};

const expectValue = (value: unknown, operation: Operation): void => {
  if (!isDeepStrictEqual(value, operation.value)) throw new Error(`testing value ${operation.path} failed`);
};

const patchList = (list: unknown[], key: string, { op, value }: Operation): void => {
  const index = key === '-' ? list.length : Number(key);
  if (op === 'remove') list.splice(index, 1);
  else list.splice(index, op === 'replace' ? 1 : 0, value);
};

const patchMap = (map: Json, key: string, { op, value }: Operation): void => {
  if (op === 'remove') Reflect.deleteProperty(map, key);
  else map[key] = value;
};
