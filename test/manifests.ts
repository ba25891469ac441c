/** Looks at synthesized objects, for tests of every kind and chart. */
import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { KubeObject } from '../charts/resource.ts';
import type { Kind, Resource } from '../crds/kind.ts';

/** Whatever `build` adds to a fresh chart. */
export function synthesized(build: (chart: Construct) => void): readonly KubeObject[] {
  const chart = new Chart(new App(), 'test');
  build(chart);
  return chart.toJson() as KubeObject[];
}

/** What a kind wants for a resource, as its constructs say it; the operator adds the owner. */
export const childrenOf = (kind: Kind, resource: Resource): readonly KubeObject[] =>
  synthesized((chart) => kind.children(chart, resource));

/** The one object of that kind and name. Throws when there is none. */
export function objectNamed(objects: readonly KubeObject[], kind: string, name: string): KubeObject {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`there are ${found.length} objects ${kind}/${name}, not one`);
  return found[0] as KubeObject;
}

/** The value at a path such as `spec.template.spec.containers.0.image`; undefined where the path ends early. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], value);
}

/** Paths of what the API server drops when it stores an object: null, '', [] and {}. */
export function emptiesIn(value: unknown, path = ''): readonly string[] {
  if (value === null || value === undefined || value === '') return [path];
  if (typeof value !== 'object') return [];
  const entries = Object.entries(value);
  return entries.length === 0 ? [path] : entries.flatMap(([name, inner]) => emptiesIn(inner, `${path}/${name}`));
}

/** What of `desired` is not in `actual`, by path. Lists must be of one length: the server adds to objects, not to lists. */
export function missingFrom(actual: unknown, desired: unknown, path = ''): readonly string[] {
  if (typeof desired !== 'object' || desired === null || typeof actual !== 'object' || actual === null)
    return actual === desired ? [] : [`${path}: ${JSON.stringify(desired)} became ${JSON.stringify(actual)}`];
  if (Array.isArray(desired) && desired.length !== (actual as unknown[]).length) return [`${path}: another length`];
  return Object.entries(desired).flatMap(([name, inner]) =>
    missingFrom((actual as Readonly<Record<string, unknown>>)[name], inner, `${path}/${name}`),
  );
}
