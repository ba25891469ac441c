import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changesBetween, drifted, keepsItsName } from './diff.ts';
import type { JsonObject } from './json.ts';

const deployment = (spec: JsonObject, metadata: JsonObject = { name: 'web', namespace: 'shop' }): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec,
});

const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })) as fc.Arbitrary<JsonObject>;

describe('changes between two sets of inputs', () => {
  test('names each leaf by its path as Pulumi writes it', () => {
    const olds = deployment({ replicas: 1, template: { spec: { containers: [{ image: 'a' }, { image: 'b' }] } } });
    const news = deployment(
      { replicas: 2, template: { spec: { containers: [{ image: 'a', args: [] }] } } },
      { name: 'web', namespace: 'shop', labels: { 'app.kubernetes.io/name': 'web' } },
    );
    expect(changesBetween(olds, news)).toEqual([
      { path: 'metadata.labels', kind: 'add', replace: false },
      { path: 'spec.replicas', kind: 'update', replace: false },
      { path: 'spec.template.spec.containers[0].args', kind: 'add', replace: false },
      { path: 'spec.template.spec.containers[1]', kind: 'delete', replace: false },
    ]);
  });

  test('quotes keys that are not words', () => {
    const labelled = (value: string) => deployment({}, { name: 'web', labels: { 'app.kubernetes.io/name': value } });
    expect(changesBetween(labelled('a'), labelled('b')).map(({ path }) => path)).toEqual([
      'metadata.labels["app.kubernetes.io/name"]',
    ]);
  });

  test.each([
    [
      'a selector',
      deployment({ selector: { matchLabels: { a: '1' } } }),
      deployment({ selector: { matchLabels: { a: '2' } } }),
    ],
    ['a name', deployment({}, { name: 'a' }), deployment({}, { name: 'b' })],
    ['a namespace', deployment({}, { name: 'a', namespace: 'x' }), deployment({}, { name: 'a', namespace: 'y' })],
    [
      'the role of a binding',
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'a' },
        roleRef: { name: 'r' },
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'a' },
        roleRef: { name: 's' },
      },
    ],
  ])('%s cannot be changed in place', (_what, olds, news) => {
    expect(changesBetween(olds, news).map(({ replace }) => replace)).toEqual([true]);
  });

  test('a field whose name only begins like an immutable one is changed in place', () => {
    const [change] = changesBetween(deployment({ selectorNote: 'a' }), deployment({ selectorNote: 'b' }));
    expect(change).toEqual({ path: 'spec.selectorNote', kind: 'update', replace: false });
  });

  test('an object that keeps its name has to go before the new one comes', () => {
    expect(keepsItsName(deployment({ selector: {} }), deployment({}))).toBe(true);
    expect(keepsItsName(deployment({}, { name: 'a' }), deployment({}, { name: 'b' }))).toBe(false);
  });

  test('equal inputs have none, and different ones have some', () => {
    fc.assert(
      fc.property(anyObject, anyObject, (one, other) => {
        expect(changesBetween(one, structuredClone(one))).toEqual([]);
        expect(changesBetween(one, other).length === 0).toBe(
          JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)),
        );
      }),
    );
  });
});

describe('drift', () => {
  const inputs = deployment({
    template: { spec: { containers: [{ name: 'web', resources: { limits: { cpu: '1000m' } } }] } },
  });
  const withDefaults = deployment({
    replicas: 1,
    template: { spec: { restartPolicy: 'Always', containers: [{ name: 'web', resources: { limits: { cpu: '1' } } }] } },
  });

  test('is not what the server adds or spells in its own way', () => {
    expect(drifted(inputs, withDefaults, withDefaults)).toEqual(inputs);
  });

  test('is not what others add to fields that are not ours', () => {
    const live = deployment(
      { ...(withDefaults['spec'] as JsonObject), paused: true },
      { name: 'web', namespace: 'shop', labels: { x: 'y' } },
    );
    expect(drifted(inputs, withDefaults, live)).toEqual(inputs);
  });

  test('is the live value where applying would change it, and nothing else', () => {
    const live = structuredClone(withDefaults) as {
      spec: { template: { spec: { containers: Record<string, unknown>[] } } };
    };
    live.spec.template.spec.containers[0]!['name'] = 'other';
    const found = drifted(inputs, withDefaults, live as unknown as JsonObject);
    expect(changesBetween(inputs, found as JsonObject)).toEqual([
      { path: 'spec.template.spec.containers[0].name', kind: 'update', replace: false },
    ]);
  });

  test('is a field that somebody removed', () => {
    const labelled = deployment({}, { name: 'web', labels: { a: '1', b: '2' } });
    const live = deployment({}, { name: 'web', labels: { a: '1' } });
    expect(drifted(labelled, labelled, live)).toEqual(live);
  });

  test('is the whole list where entries came or went', () => {
    const of = (...rules: string[]): JsonObject => ({ kind: 'Role', rules });
    expect(drifted(of('a'), of('a'), of('a', 'b'))).toEqual(of('a', 'b'));
  });

  test('never shows a field that the inputs do not have', () => {
    fc.assert(
      fc.property(anyObject, anyObject, anyObject, (given, applied, live) => {
        const found = drifted(given, applied, live) as JsonObject;
        expect(Object.keys(given)).toEqual(expect.arrayContaining(Object.keys(found)));
      }),
    );
  });
});

/** With keys in one order at every depth, as far as JSON goes. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, sorted(part)]);
}
