/**
 * What changed between two sets of inputs, and what drifted in the cluster. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { at, isList, isObject, textAt } from './json.ts';
import type { Json, JsonObject } from './json.ts';

export interface Change {
  /** As Pulumi writes property paths: `spec.ports[0].port`, `metadata.labels["app.kubernetes.io/name"]`. */
  readonly path: string;
  readonly kind: 'add' | 'delete' | 'update';
  /** True where the API server does not let the field change, so that the object has to be made anew. */
  readonly replace: boolean;
}

const identity = ['kind', 'metadata.name', 'metadata.namespace'];

/** Fields that the API server refuses to change, by group and kind. */
const immutable: Readonly<Record<string, readonly string[]>> = {
  'apps/DaemonSet': ['spec.selector'],
  'apps/Deployment': ['spec.selector'],
  'apps/StatefulSet': ['spec.selector', 'spec.serviceName', 'spec.podManagementPolicy', 'spec.volumeClaimTemplates'],
  'batch/Job': ['spec.selector', 'spec.template', 'spec.completionMode'],
  'rbac.authorization.k8s.io/ClusterRoleBinding': ['roleRef'],
  'rbac.authorization.k8s.io/RoleBinding': ['roleRef'],
  'apiextensions.k8s.io/CustomResourceDefinition': ['spec.group', 'spec.scope', 'spec.names.plural'],
  '/Service': ['spec.clusterIP'],
  '/Secret': ['type'],
};

const groupKindOf = (object: JsonObject): string => {
  const apiVersion = textAt(object, 'apiVersion');
  return `${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}/${textAt(object, 'kind')}`;
};

const step = (path: string, key: string): string =>
  /^[A-Za-z_$][\w$-]*$/.test(key) ? (path === '' ? key : `${path}.${key}`) : `${path}["${key.replaceAll('"', '\\"')}"]`;

/** Every leaf that differs, in the order of the paths. */
export function changesBetween(olds: JsonObject, news: JsonObject): readonly Change[] {
  const fixed = [...identity, ...(immutable[groupKindOf(news)] ?? [])];
  return leaves('', olds, news).map((change) => ({
    ...change,
    replace: fixed.some(
      (path) => change.path === path || (/^[.[]/.test(change.path.slice(path.length)) && change.path.startsWith(path)),
    ),
  }));
}

type Leaf = Omit<Change, 'replace'>;

function leaves(path: string, before: Json | undefined, after: Json | undefined): readonly Leaf[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (before === undefined) return [{ path, kind: 'add' }];
  if (after === undefined) return [{ path, kind: 'delete' }];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => leaves(step(path, key), before[key], after[key]));
  }
  if (isList(before) && isList(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => leaves(`${path}[${index}]`, before[index], after[index])).flat();
  }
  return [{ path, kind: 'update' }];
}

/** True when a replacement would meet the old object under the same name, so that the old one has to go first. */
export const keepsItsName = (olds: JsonObject, news: JsonObject): boolean =>
  textAt(olds, 'kind') === textAt(news, 'kind') &&
  at(olds, 'metadata', 'name') === at(news, 'metadata', 'name') &&
  at(olds, 'metadata', 'namespace') === at(news, 'metadata', 'namespace');

/**
 * The inputs as the cluster has them now: `inputs` wherever applying them would change nothing, the live value elsewhere.
 * `applied` is what the API server would make of the inputs (a dry run), so that defaults and spellings of the server
 * (1000m and 1) are no drift, and fields that others own are not looked at.
 */
export function drifted(inputs: Json, applied: Json | undefined, live: Json): Json {
  if (isDeepStrictEqual(applied, live)) return inputs;
  if (isObject(inputs) && isObject(applied) && isObject(live)) {
    const kept = Object.entries(inputs).filter(([key]) => live[key] !== undefined);
    return Object.fromEntries(
      kept.map(([key, value]) => [key, drifted(value ?? null, applied[key], live[key] ?? null)]),
    );
  }
  if (
    isList(inputs) &&
    isList(applied) &&
    isList(live) &&
    inputs.length === live.length &&
    applied.length === live.length
  ) {
    return inputs.map((value, index) => drifted(value, applied[index], live[index] ?? null));
  }
  return live;
}
