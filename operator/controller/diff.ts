/**
 * Desired against live. The server adds fields, fills in defaults and respells amounts; others add what is theirs. So the
 * question is never "equal?" but "is everything that we say still so?". What we no longer say is seen by the hash.
 */
import type { KubeObject } from '../../charts/resource.ts';
import { isObject } from './canonical.ts';
import { isAtomic, isDroppedMap, isDroppedZero, isQuantity, mergeKeysOf } from './fields.ts';
import { hashOf } from './ownership.ts';
import { isSameQuantity } from './quantity.ts';

/** One thing that is not as desired. */
export interface Difference {
  /** `spec.template.spec.containers[name=web].image` */
  readonly path: string;
  /** What stands there now; may be confidential, so it is compared and never shown. */
  readonly live: unknown;
}

/** Names on the way to a value, without list positions; and whether the built-in types' rules hold. */
interface Place {
  readonly names: readonly string[];
  readonly path: string;
  readonly isBuiltIn: boolean;
}

/** Whether the live object was last written for this very manifest, and still says all of it. */
export const inSync = (desired: KubeObject, live: KubeObject): boolean =>
  hashOf(desired) === hashOf(live) && differences(desired, live).length === 0;

/** Everything in `desired` that does not stand so in `live`. Identity (apiVersion, kind, name) is not compared. */
export function differences(desired: KubeObject, live: KubeObject): readonly Difference[] {
  const found: Difference[] = [];
  const isBuiltIn = isBuiltInGroup(desired.apiVersion);
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = desired;
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  const said = { metadata: { labels, annotations, ownerReferences, finalizers }, ...rest };
  compare(said, live, { names: [], path: '', isBuiltIn }, found);
  return found;
}

/** Groups without a dot, and those of Kubernetes itself. */
const isBuiltInGroup = (apiVersion: string): boolean => {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined || !group.includes('.') || group.endsWith('.k8s.io');
};

function compare(desired: unknown, live: unknown, at: Place, found: Difference[]): void {
  if (desired === undefined || desired === null) return;
  if (live === undefined || live === null) {
    if (!mayBeAbsent(desired, at)) found.push({ path: at.path, live });
  } else if (Array.isArray(desired)) compareLists(desired, live, at, found);
  else if (isObject(desired)) compareObjects(desired, live, at, found);
  else if (!isSameScalar(desired, live, at)) found.push({ path: at.path, live });
}

/** Whether the server leaves that value out when it stores it. Of custom resources it stores everything but null. */
function mayBeAbsent(desired: unknown, { names, isBuiltIn }: Place): boolean {
  if (!isBuiltIn) return false;
  if (Array.isArray(desired)) return desired.length === 0;
  return isObject(desired) ? isEmpty(desired) && isDroppedMap(names) : isDroppedZero(names, desired);
}

const isEmpty = (value: Readonly<Record<string, unknown>>): boolean =>
  Object.values(value).every((part) => part === undefined || part === null);

const isSameScalar = (desired: unknown, live: unknown, { names, isBuiltIn }: Place): boolean =>
  desired === live || (isBuiltIn && isQuantity(names) && isSameQuantity(desired, live));

function compareObjects(desired: Readonly<Record<string, unknown>>, live: unknown, at: Place, found: Difference[]) {
  if (!isObject(live)) return void found.push({ path: at.path, live });
  for (const [name, value] of Object.entries(desired)) compare(value, live[name], inside(at, name), found);
}

function compareLists(desired: readonly unknown[], live: unknown, at: Place, found: Difference[]): void {
  if (!Array.isArray(live)) return void found.push({ path: at.path, live });
  const keys = at.isBuiltIn ? mergeKeysOf(at.names) : undefined;
  if (keys !== undefined) compareEntries(desired, live, { keys, at }, found);
  else if (isAtomic(at.names)) compareWhole(desired, live, at, found);
  else if (desired.some((each) => !live.includes(each))) found.push({ path: at.path, live });
}

/** Lists that are one value: same length, each entry as desired. */
function compareWhole(desired: readonly unknown[], live: readonly unknown[], at: Place, found: Difference[]): void {
  if (desired.length !== live.length) return void found.push({ path: at.path, live });
  desired.forEach((entry, index) => {
    compare(entry, live[index], { ...at, path: `${at.path}[${index}]` }, found);
  });
}

/** Lists whose entries belong to whoever wrote them: ours must be there, found by their keys. */
function compareEntries(
  desired: readonly unknown[],
  live: readonly unknown[],
  { keys, at }: { readonly keys: readonly string[]; readonly at: Place },
  found: Difference[],
): void {
  for (const entry of desired) {
    const name = nameOf(entry, keys);
    const path = `${at.path}[${name}]`;
    const counterpart: unknown = live.find((candidate) => nameOf(candidate, keys) === name);
    if (counterpart === undefined) found.push({ path, live: undefined });
    else compare(entry, counterpart, { ...at, path }, found);
  }
}

/** `name=web`, `containerPort=80,protocol=TCP`. */
const nameOf = (entry: unknown, keys: readonly string[]): string =>
  keys.map((key) => `${key}=${textOf(isObject(entry) ? entry[key] : undefined) ?? keyDefaults[key] ?? ''}`).join(',');

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const keyDefaults: Readonly<Record<string, string>> = { protocol: 'TCP' };

const inside = (at: Place, name: string): Place => ({
  // Custom resources have the same metadata as all others.
  isBuiltIn: at.isBuiltIn || (name === 'metadata' && at.names.length === 0),
  names: [...at.names, name],
  path: /^[A-Za-z_][\w-]*$/.test(name) ? `${at.path}${at.path === '' ? '' : '.'}${name}` : `${at.path}['${name}']`,
});
