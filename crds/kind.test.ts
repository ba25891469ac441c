import { describe, expect, test } from '@jest/globals';
import { Gadget, gadgetProps } from '../test/gadget.ts';
import type { KindProps, Resource } from './kind.ts';
import { defineKind, definitionOf, nameIsServiceName, rootSchemaOf, rulesOf, userRolesOf, watchesOf } from './kind.ts';
import { Deployment, Service } from './owned.ts';
import { conditions, integer, object, optional, string, withRules } from './schema.ts';

type Props = KindProps<typeof gadgetProps.spec, typeof gadgetProps.status>;

/** The lines of the error for a kind that differs from a sound one. */
function flawsOf(change: Partial<Record<keyof Props, unknown>>): readonly string[] {
  try {
    defineKind({ ...gadgetProps, ...change } as Props);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.trim());
  }
}

describe('defining a kind', () => {
  test('a sound kind gets its defaults', () => {
    const { shortNames, categories, rules, scale, ...least } = gadgetProps;
    const kind = defineKind(least);
    expect(kind).toMatchObject({
      scope: 'Namespaced',
      shortNames: [],
      categories: ['reprise'],
      rules: [],
      scale: undefined,
    });
    expect([shortNames, categories, rules, scale]).toHaveLength(4);
  });

  test('children and observe see the types of the schema', () => {
    defineKind({
      ...gadgetProps,
      children: (_scope, gadget) => {
        const replicas: number = gadget.spec.replicas;
        const mode: 'Fast' | 'Safe' = gadget.spec.mode;
        // @ts-expect-error -- optional: may be absent
        const memory: string | number = gadget.spec.memory;
        // @ts-expect-error -- no such field
        const other: unknown = gadget.spec.replica;
        expect([replicas, mode, memory, other]).toBeDefined();
      },
      // @ts-expect-error -- a status without what its schema requires
      observe: () => ({ conditions: [] }),
    });
    defineKind({
      ...gadgetProps,
      observe: (gadget, observed) => {
        const ready: number | undefined = observed.get(Deployment, gadget.metadata.name)?.status?.readyReplicas;
        return { replicas: ready ?? gadget.status?.replicas ?? 0, conditions: [] };
      },
    });
    const handled: (resource: Resource) => unknown = (resource) => resource.spec;
    expect(handled).toBeInstanceOf(Function);
  });

  test.each<[what: string, change: Partial<Record<keyof Props, unknown>>, line: string]>([
    [
      'a group of one word',
      { group: 'example' },
      'group: must be a DNS name of at least two parts such as web.example.com, but is "example"',
    ],
    [
      'a group in capitals',
      { group: 'Web.example.com' },
      'group: must be a DNS name of at least two parts such as web.example.com, but is "Web.example.com"',
    ],
    ['a version that Kubernetes cannot order', { version: '1.0' }, 'version: must be such as v1, v1beta2 or v1alpha1'],
    ['a kind that is no type name', { kind: 'gadget' }, 'kind: must be one word in PascalCase'],
    [
      'a plural in capitals',
      { plural: 'Gadgets' },
      'plural: must be lower-case letters, digits and dashes, first a letter, at most 63: the kind in the plural',
    ],
    [
      'no description',
      { description: ' ' },
      'description: must be a sentence or two: kubectl explain and the reference begin with it',
    ],
    ['a short name twice', { shortNames: ['gd', 'gd'] }, 'shortNames: gd stands twice'],
    ['a short name that is the plural', { shortNames: ['gadgets'] }, 'shortNames: gadgets stands twice'],
    [
      'an invalid short name',
      { shortNames: ['g_d'] },
      'shortNames[0]: must be lower-case letters, digits and dashes, first a letter, at most 63',
    ],
    [
      'an invalid category',
      { categories: ['All'] },
      'categories[1]: must be lower-case letters, digits and dashes, first a letter, at most 63',
    ],
    ['a type owned twice', { owns: [Deployment, Service, Deployment] }, 'owns: Deployment.apps stands twice'],
    ['a column twice', { columns: [...gadgetProps.columns, gadgetProps.columns[2]] }, 'columns: Age stands twice'],
    [
      'a column that leads nowhere',
      { columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] },
      'columns Size: jsonPath .spec.size leads to no field of the resource',
    ],
    [
      'a column of another type',
      { columns: [{ name: 'Mode', type: 'integer', jsonPath: '.spec.mode' }] },
      'columns Mode: jsonPath .spec.mode leads to a string, but the column is of type integer',
    ],
    [
      'a column by a condition field that is not there',
      { columns: [{ name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.kind=="Ready")].status' }] },
      'columns Ready: jsonPath .status.conditions[?(@.kind=="Ready")].status leads to no field of the resource',
    ],
    [
      'a scale path that leads nowhere',
      { scale: { ...gadgetProps.scale, specReplicasPath: '.spec.size' } },
      'scale.specReplicasPath: must lead to an integer below .spec, but is .spec.size',
    ],
    [
      'a scale path into the spec for the status',
      { scale: { ...gadgetProps.scale, statusReplicasPath: '.spec.replicas' } },
      'scale.statusReplicasPath: must lead to an integer below .status, but is .spec.replicas',
    ],
    [
      'a selector that is no text',
      { scale: { ...gadgetProps.scale, labelSelectorPath: '.status.replicas' } },
      'scale.labelSelectorPath: must lead to a string below .spec or .status, but is .status.replicas',
    ],
    [
      'replicas that may be negative',
      { spec: object({ replicas: integer({ maximum: 3 }), mode: optional(string()) }) },
      'scale.specReplicasPath: .spec.replicas must have a minimum of 0 or more',
    ],
    [
      'a status without conditions',
      {
        status: object({ replicas: integer(), selector: optional(string()), observedGeneration: integer() }),
        columns: [],
      },
      'status.conditions: every status has `conditions`, the one that schema.ts exports',
    ],
    [
      'a status without observedGeneration',
      { status: object({ replicas: integer(), selector: optional(string()), conditions }) },
      'status.observedGeneration: every status has `observedGeneration: integer()`',
    ],
    [
      'a rule of the whole for a field that is not there',
      { rules: [{ ...nameIsServiceName, fieldPath: '.metadata.uid' }] },
      `the rule ${JSON.stringify(nameIsServiceName.rule)}: fieldPath .metadata.uid names no field of this value`,
    ],
  ])('%s is one clear line', (_what, change, line) => {
    expect(flawsOf(change)).toEqual([
      expect.stringMatching(/^the kind \w+ cannot be defined:$/),
      expect.stringContaining(line),
    ]);
  });

  test('everything that is wrong is told at once, with its path', () => {
    const spec = object({
      replicas: integer({ minimum: 2, maximum: 1 }),
      mode: withRules(string({ pattern: '(?=a)' }), { rule: '', message: 'm' }),
    });
    const lines = flawsOf({ plural: 'Gadgets', spec, scale: undefined });
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'the kind Gadget cannot be defined',
      'plural',
      'spec.replicas',
      'spec.mode',
      'spec.mode',
    ]);
  });
});

describe('the definition of a kind', () => {
  test('is the CustomResourceDefinition', () => {
    const { spec, ...rest } = definitionOf(Gadget);
    expect(rest).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'gadgets.test.example.com',
        labels: { 'app.kubernetes.io/part-of': 'reprise', 'app.kubernetes.io/component': 'definition' },
      },
    });
    expect(spec).toMatchObject({
      group: 'test.example.com',
      scope: 'Namespaced',
      names: {
        kind: 'Gadget',
        listKind: 'GadgetList',
        plural: 'gadgets',
        singular: 'gadget',
        shortNames: ['gd'],
        categories: ['reprise', 'toys'],
      },
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    });
  });

  test('is plain JSON', () => {
    const definition = definitionOf(Gadget);
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  test('a spec of which nothing must be written need not be written at all', () => {
    const root = rootSchemaOf(Gadget);
    expect(root.required).toBeUndefined();
    expect(root.properties?.['spec']?.default).toEqual({ replicas: 1, mode: 'Safe' });
  });

  test('a spec with a required field is required', () => {
    const kind = defineKind({
      ...gadgetProps,
      spec: object({ replicas: integer({ minimum: 0 }) }),
    } as unknown as Props);
    expect(rootSchemaOf(kind).required).toEqual(['spec']);
    expect(rootSchemaOf(kind).properties?.['spec']?.default).toBeUndefined();
  });
});

describe('rights', () => {
  test('the operator may do what it does and no more', () => {
    const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
    expect(rulesOf(Gadget)).toEqual([
      { apiGroups: ['test.example.com'], resources: ['gadgets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['test.example.com'], resources: ['gadgets/status'], verbs: ['patch'] },
      { apiGroups: ['test.example.com'], resources: ['gadgets/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['services'], verbs },
      { apiGroups: ['apps'], resources: ['deployments'], verbs },
    ]);
  });

  test('users get three ranks, aggregated to the built-in roles', () => {
    const roles = userRolesOf(Gadget);
    expect(roles.map((role) => [role.metadata.name, role.metadata.labels])).toEqual([
      [
        'gadgets.test.example.com-viewer',
        { 'app.kubernetes.io/part-of': 'reprise', 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
      ],
      [
        'gadgets.test.example.com-editor',
        { 'app.kubernetes.io/part-of': 'reprise', 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' },
      ],
      [
        'gadgets.test.example.com-admin',
        { 'app.kubernetes.io/part-of': 'reprise', 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' },
      ],
    ]);
    expect(roles[0]?.['rules']).toEqual([
      { apiGroups: ['test.example.com'], resources: ['gadgets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['test.example.com'], resources: ['gadgets/status'], verbs: ['get'] },
      { apiGroups: ['test.example.com'], resources: ['gadgets/scale'], verbs: ['get'] },
    ]);
  });

  test('no user may write status, and nobody has a wildcard', () => {
    const rules = userRolesOf(Gadget).flatMap((role) => role['rules'] as { resources: string[]; verbs: string[] }[]);
    expect(rules.filter((rule) => rule.resources.includes('gadgets/status')).flatMap((rule) => rule.verbs)).toEqual([
      'get',
      'get',
      'get',
    ]);
    expect(JSON.stringify([rules, rulesOf(Gadget)])).not.toContain('*');
  });
});

test('the operator watches the kind and what it owns', () => {
  expect(watchesOf(Gadget)).toEqual([Gadget, Deployment, Service]);
});
