import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KubeObject } from '../../charts/resource.ts';
import { differences, inSync } from './diff.ts';
import { desiredHashAnnotation } from './ownership.ts';

const container = {
  name: 'web',
  image: 'nginx:1',
  args: ['-g', 'daemon off;'],
  env: [{ name: 'MODE', value: 'prod' }],
  ports: [{ name: 'http', containerPort: 80 }],
  resources: { requests: { cpu: '1000m', memory: '2048Mi' } },
  volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
};

type Fields = Readonly<Record<string, unknown>>;

const deployment = (containerFields: Fields = {}, podFields: Fields = {}, specFields: Fields = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    labels: { app: 'web' },
    annotations: { [desiredHashAnnotation]: 'h1' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'web', uid: 'u1', controller: true }],
  },
  spec: {
    replicas: 2,
    template: { spec: { containers: [{ ...container, ...containerFields }], ...podFields } },
    ...specFields,
  },
});

/** What a server makes of it: defaults, identity, what others add, amounts respelt. Written by hand. */
const stored: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'd1',
    resourceVersion: '7',
    generation: 3,
    labels: { app: 'web', team: 'blue' },
    annotations: { [desiredHashAnnotation]: 'h1', 'deployment.kubernetes.io/revision': '1' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'u0' },
      { apiVersion: 'v1', kind: 'Owner', name: 'web', uid: 'u1', controller: true },
    ],
  },
  spec: {
    replicas: 2,
    progressDeadlineSeconds: 600,
    template: {
      metadata: { creationTimestamp: null },
      spec: {
        restartPolicy: 'Always',
        containers: [
          { name: 'sidecar', image: 'mesh:2' },
          {
            name: 'web',
            image: 'nginx:1',
            args: ['-g', 'daemon off;'],
            env: [
              { name: 'INJECTED', value: 'x' },
              { name: 'MODE', value: 'prod' },
            ],
            ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
            resources: { requests: { cpu: '1', memory: '2Gi' }, limits: {} },
            volumeMounts: [
              { name: 'token', mountPath: '/var/run' },
              { name: 'cache', mountPath: '/cache' },
            ],
            terminationMessagePath: '/dev/termination-log',
          },
        ],
      },
    },
  },
};

const pathsOf = (desired: KubeObject, live: KubeObject): string[] => differences(desired, live).map(({ path }) => path);
const prefix = 'spec.template.spec.containers[name=web]';

describe('what is in sync', () => {
  test('defaults, additions of others and respelt amounts are no difference', () => {
    expect(inSync(deployment(), stored)).toBe(true);
  });

  test('another hash is out of sync though everything said is so: something may no longer be said', () => {
    const older = { ...stored, metadata: { ...stored.metadata, annotations: { [desiredHashAnnotation]: 'h0' } } };
    expect(inSync(deployment(), older)).toBe(false);
  });

  test.each<[string, Fields, Fields]>([
    ['empty lists', { command: [] }, { tolerations: [] }],
    ['empty maps', {}, { nodeSelector: {} }],
    ['nulls', { lifecycle: null }, { affinity: null }],
    ['false where the server drops it', { stdin: false, tty: false }, { hostNetwork: false }],
    ['empty texts where the server drops them', { workingDir: '' }, { hostname: '' }],
  ])('%s may be left out by the server', (_what, ofContainer, ofPod) => {
    expect(pathsOf(deployment(ofContainer, ofPod), stored)).toEqual([]);
  });
});

describe('what is not', () => {
  test.each<[string, KubeObject, string]>([
    ['a changed scalar', deployment({ image: 'nginx:2' }), `${prefix}.image`],
    ['a changed number', deployment({}, {}, { replicas: 3 }), 'spec.replicas'],
    ['a changed amount', deployment({ resources: { requests: { cpu: '1001m' } } }), `${prefix}.resources.requests.cpu`],
    ['a missing variable', deployment({ env: [{ name: 'NEW', value: '1' }] }), `${prefix}.env[name=NEW]`],
    ['a changed variable', deployment({ env: [{ name: 'MODE', value: 'test' }] }), `${prefix}.env[name=MODE].value`],
    [
      'another protocol',
      deployment({ ports: [{ containerPort: 80, protocol: 'UDP' }] }),
      `${prefix}.ports[containerPort=80,protocol=UDP]`,
    ],
    ['a shorter atomic list', deployment({ args: ['-g'] }), `${prefix}.args`],
    ['another order in an atomic list', deployment({ args: ['daemon off;', '-g'] }), `${prefix}.args[0]`],
    ['a missing container', deployment({ name: 'other' }), 'spec.template.spec.containers[name=other]'],
    ['a text for a number', deployment({}, {}, { replicas: '2' }), 'spec.replicas'],
    [
      'a false with a meaning',
      deployment({}, { automountServiceAccountToken: false }),
      'spec.template.spec.automountServiceAccountToken',
    ],
    ['an empty object with a meaning', deployment({}, { securityContext: {} }), 'spec.template.spec.securityContext'],
    ['an object where a scalar stands', deployment({ image: { name: 'x' } }), `${prefix}.image`],
    ['a list where a scalar stands', deployment({ image: ['x'] }), `${prefix}.image`],
  ])('%s is named by its path', (_what, desired, path) => {
    expect(pathsOf(desired, stored)[0]).toBe(path);
  });

  test('a label, an annotation and the owner reference are compared too', () => {
    const bare = { ...stored, metadata: { name: 'web', annotations: { 'example.com/x': 'y' } } };
    expect(pathsOf(deployment(), bare)).toEqual([
      'metadata.labels',
      `metadata.annotations['${desiredHashAnnotation}']`,
      'metadata.ownerReferences',
    ]);
  });

  test('a finalizer of ours that was removed is missed, one of others is not', () => {
    const withFinalizer: KubeObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a', finalizers: ['ours'] },
    };
    const live = (finalizers: readonly string[]) => ({ ...withFinalizer, metadata: { name: 'a', finalizers } });
    expect(pathsOf(withFinalizer, live(['theirs', 'ours']))).toEqual([]);
    expect(pathsOf(withFinalizer, live(['theirs']))).toEqual(['metadata.finalizers']);
  });

  test('a port that somebody added to a network policy is drift: the list is one value', () => {
    const policy = (ports: readonly unknown[]): KubeObject => ({
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'a' } },
      spec: { ingress: [{ ports }] },
    });
    const [http, ssh] = [
      { port: 80, protocol: 'TCP' },
      { port: 22, protocol: 'TCP' },
    ];
    expect(pathsOf(policy([http]), policy([http, ssh]))).toEqual(['spec.ingress[0].ports']);
  });

  test('of a custom resource nothing is dropped and no list is merged', () => {
    const custom = (spec: Fields): KubeObject => ({
      apiVersion: 'example.com/v1',
      kind: 'X',
      metadata: { name: 'a' },
      spec,
    });
    expect(pathsOf(custom({ list: [], map: {}, paused: false, gone: null }), custom({}))).toEqual([
      'spec.list',
      'spec.map',
      'spec.paused',
    ]);
    const ports = [{ port: 80, protocol: 'TCP' }];
    expect(pathsOf(custom({ ports }), custom({ ports: [...ports, { port: 81, protocol: 'TCP' }] }))).toEqual([
      'spec.ports',
    ]);
    expect(pathsOf(custom({ limits: { cpu: '1000m' } }), custom({ limits: { cpu: '1' } }))).toEqual([
      'spec.limits.cpu',
    ]);
    expect(pathsOf({ ...custom({}), metadata: { name: 'a', labels: {} } }, custom({}))).toEqual([]);
  });
});

describe('for any manifest', () => {
  const scalar = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(true), fc.stringMatching(/^[a-z]{1,4}$/));
  const name = fc.stringMatching(/^[a-z]{1,6}$/);
  const tree = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      scalar,
      tie('object'),
      fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
    ),
    object: fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4 }),
  })).object;
  const manifest = (spec: unknown): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a' },
    spec,
  });

  /** As a server does: keys in other order, and more of them; lists as they are. */
  const grown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(grown);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, part]) => [key, grown(part)] as const);
    return { addedByServer: 1, ...Object.fromEntries(entries.reverse()) };
  };

  /** Each leaf of it changed, one at a time. */
  function* spoilt(value: unknown): Generator {
    if (Array.isArray(value)) {
      yield value.slice(1);
      for (const [index, part] of value.entries()) for (const bad of spoilt(part)) yield value.with(index, bad);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, part] of Object.entries(value)) for (const bad of spoilt(part)) yield { ...value, [key]: bad };
    } else yield 'spoilt by someone';
  }

  test('what the server adds is never a difference', () => {
    fc.assert(fc.property(tree, (spec) => expect(differences(manifest(spec), manifest(grown(spec)))).toEqual([])));
  });

  test('no change of anything that is said goes unnoticed', () => {
    fc.assert(
      fc.property(tree, (spec) => {
        for (const bad of spoilt(spec)) expect(differences(manifest(spec), manifest(grown(bad)))).not.toEqual([]);
      }),
    );
  });

  test('every difference names where it is, and what stands there', () => {
    fc.assert(
      fc.property(tree, (spec) => {
        for (const { path } of differences(manifest(spec), manifest({}))) expect(path).toMatch(/^spec\.[a-z]+/);
      }),
    );
  });
});
