import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { parse } from 'yaml';
import type { KubeObject } from '../charts/resource.ts';
import { at, emptiesIn, objectNamed } from '../test/manifests.ts';
import { parseInstallOptions } from './install-options.ts';
import { installCharts } from './install.ts';
import { definitionOf } from './kind.ts';
import { WebServer } from './webserver/index.ts';

interface Installed {
  readonly chart: string;
  readonly objects: readonly KubeObject[];
}

const installed = (raw: Readonly<Record<string, unknown>> = {}): readonly Installed[] =>
  installCharts(new App(), parseInstallOptions(raw)).map((chart) => ({
    chart: chart.node.id,
    objects: chart.toJson() as KubeObject[],
  }));

const objectsOf = (raw: Readonly<Record<string, unknown>> = {}) => installed(raw).flatMap(({ objects }) => objects);

const identityOf = ({ kind, metadata }: KubeObject) =>
  [kind, metadata.namespace, metadata.name].filter(Boolean).join(' ');

const ofKind = (kind: string, raw: Readonly<Record<string, unknown>> = {}) =>
  objectsOf(raw).filter((object) => object.kind === kind);

describe('what is installed', () => {
  // Definitions have their snapshot in the rooms of their kinds.
  const others = objectsOf().filter(({ kind }) => kind !== 'CustomResourceDefinition');
  test.each(others.map((object) => [identityOf(object), object] as const))('install %s', (_name, object) => {
    expect(object).toMatchSnapshot();
  });

  test('comes in charts that are applied one after the other', () => {
    expect(installed().map(({ chart, objects }) => [chart, objects.map(identityOf)])).toEqual([
      ['0-definitions', ['Namespace reprise-system', 'CustomResourceDefinition webservers.webserver.example.com']],
      [
        '1-operator',
        [
          'ServiceAccount reprise-system reprise',
          'Role default reprise',
          'RoleBinding default reprise',
          'ClusterRole webservers.webserver.example.com-viewer',
          'ClusterRole webservers.webserver.example.com-editor',
          'ClusterRole webservers.webserver.example.com-admin',
          'Deployment reprise-system reprise',
          'Service reprise-system reprise',
        ],
      ],
      ['2-samples', ['WebServer default hello', 'WebServer default docs']],
    ]);
  });

  test('is the same to the byte each time', () => {
    expect(JSON.stringify(installed())).toBe(JSON.stringify(installed()));
  });

  test('has no object twice: synth does not notice where names are given', () => {
    const identities = objectsOf({ watchNamespaces: 'team-a,team-b' }).map(identityOf);
    expect(new Set(identities).size).toBe(identities.length);
  });

  test('has definitions to the last key as the kinds have them, x-kubernetes-* keys included', () => {
    const [definition] = ofKind('CustomResourceDefinition');
    expect(definition).toEqual(definitionOf(WebServer));
    expect(new Set(JSON.stringify(definition).match(/"x-kubernetes-[a-z-]+"/g))).toEqual(
      new Set(['"x-kubernetes-list-map-keys"', '"x-kubernetes-list-type"', '"x-kubernetes-validations"']),
    );
  });
});

describe('the namespace of the operator', () => {
  test('takes only pods that satisfy PodSecurity restricted', () => {
    expect(ofKind('Namespace', { namespace: 'operators' })).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {
          name: 'operators',
          labels: {
            'pod-security.kubernetes.io/enforce': 'restricted',
            'pod-security.kubernetes.io/audit': 'restricted',
            'pod-security.kubernetes.io/warn': 'restricted',
          },
        },
      },
    ]);
  });

  test('is where everything of its own is, and nothing is left in another', () => {
    const own = objectsOf({ namespace: 'operators', watchNamespaces: 'team-a' });
    const namespaces = own.map(({ metadata }) => metadata.namespace).filter((name) => name !== undefined);
    expect(new Set(namespaces)).toEqual(new Set(['operators', 'team-a']));
  });
});

const childrenVerbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** Every right of the operator, written out: a new one is a decision. */
const operatorRules = [
  { apiGroups: ['webserver.example.com'], resources: ['webservers'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['webserver.example.com'], resources: ['webservers/status'], verbs: ['patch'] },
  { apiGroups: ['webserver.example.com'], resources: ['webservers/finalizers'], verbs: ['update'] },
  { apiGroups: [''], resources: ['services'], verbs: childrenVerbs },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: childrenVerbs },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

describe('the rights of the operator', () => {
  test('are these in each watched namespace, and none outside', () => {
    const roles = ofKind('Role', { watchNamespaces: 'team-a,team-b' });
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['team-a', 'team-b']);
    for (const role of roles) expect(role['rules']).toEqual(operatorRules);
    expect(ofKind('ClusterRoleBinding', { watchNamespaces: 'team-a,team-b' })).toEqual([]);
  });

  test('are the same in all namespaces only when it is to watch all', () => {
    const raw = { watchNamespaces: '*' };
    expect(objectNamed(objectsOf(raw), 'ClusterRole', 'reprise')['rules']).toEqual(operatorRules);
    expect([...ofKind('Role', raw), ...ofKind('RoleBinding', raw)]).toEqual([]);
  });

  test.each([
    ['RoleBinding', 'Role', {}],
    ['ClusterRoleBinding', 'ClusterRole', { watchNamespaces: '*' }],
  ])('are bound by a %s to its account alone', (binding, role, raw) => {
    const [bound] = ofKind(binding, raw);
    expect(bound).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role, name: 'reprise' },
      subjects: [{ kind: 'ServiceAccount', name: 'reprise', namespace: 'reprise-system' }],
    });
    expect(bound?.['subjects']).toHaveLength(1);
  });

  test('never hold a wildcard, secrets, or a way to more rights', () => {
    const rules = [...ofKind('Role'), ...ofKind('ClusterRole', { watchNamespaces: '*' })].flatMap(
      (role) => role['rules'] as { resources: string[]; verbs: string[]; apiGroups: string[] }[],
    );
    const words = rules.flatMap((rule) => [...rule.resources, ...rule.verbs, ...rule.apiGroups]);
    expect(words.length).toBeGreaterThan(30);
    for (const word of [
      '*',
      'secrets',
      'pods',
      'pods/exec',
      'escalate',
      'bind',
      'impersonate',
      'rbac.authorization.k8s.io',
    ])
      expect(words).not.toContain(word);
  });
});

describe('the roles for users', () => {
  test.each([
    ['viewer', 'view', ['get', 'list', 'watch']],
    ['editor', 'edit', ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']],
    ['admin', 'admin', ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']],
  ])('%s is part of the built-in %s', (rank, builtIn, verbs) => {
    const role = objectNamed(objectsOf(), 'ClusterRole', `webservers.webserver.example.com-${rank}`);
    expect(role.metadata.labels).toMatchObject({ [`rbac.authorization.k8s.io/aggregate-to-${builtIn}`]: 'true' });
    expect(at(role, 'rules.0')).toEqual({ apiGroups: ['webserver.example.com'], resources: ['webservers'], verbs });
  });
});

describe("the operator's Deployment", () => {
  const deployment = (raw: Readonly<Record<string, unknown>> = {}) =>
    objectNamed(objectsOf(raw), 'Deployment', 'reprise');
  const pod = (raw: Readonly<Record<string, unknown>> = {}) => at(deployment(raw), 'spec.template.spec');
  const container = (raw: Readonly<Record<string, unknown>> = {}) => at(pod(raw), 'containers.0');

  test('never runs two operators at once', () => {
    expect(deployment()['spec']).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  test('runs the image as asked, by digest too', () => {
    const image = `ghcr.io/reprise-dev/reprise@sha256:${'0f'.repeat(32)}`;
    expect(container({ image })).toMatchObject({ image, imagePullPolicy: 'IfNotPresent' });
  });

  test('mounts the token of its account, which mounts it nowhere else', () => {
    expect(pod()).toMatchObject({ serviceAccountName: 'reprise', automountServiceAccountToken: true });
    expect(ofKind('ServiceAccount')[0]).toMatchObject({ automountServiceAccountToken: false });
  });

  test('is started with addresses, log format and log level', () => {
    expect(at(container({ logLevel: 'debug' }), 'args')).toEqual([
      '--health-probe-bind-address=:8081',
      '--metrics-bind-address=:8080',
      '--log-format=json',
      '--log-level=debug',
    ]);
  });

  test('is told the namespaces that it has rights in', () => {
    const told = (watchNamespaces: string) => at(container({ watchNamespaces }), 'env');
    expect(told('team-a,team-b')).toEqual([{ name: 'WATCH_NAMESPACE', value: 'team-a,team-b' }]);
    expect(told('*')).toEqual([{ name: 'WATCH_NAMESPACE', value: '*' }]);
  });

  test('is probed where the operator answers', () => {
    expect(at(container(), 'ports')).toEqual([
      { name: 'metrics', containerPort: 8080, protocol: 'TCP' },
      { name: 'probes', containerPort: 8081, protocol: 'TCP' },
    ]);
    expect(at(container(), 'livenessProbe.httpGet')).toEqual({ path: '/healthz', port: 'probes', scheme: 'HTTP' });
    expect(at(container(), 'readinessProbe.httpGet')).toEqual({ path: '/readyz', port: 'probes', scheme: 'HTTP' });
  });

  test('can write nowhere, is nobody, and has bounds', () => {
    expect(at(pod(), 'securityContext')).toEqual({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(container(), 'securityContext')).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod()).not.toHaveProperty('volumes');
    expect(at(container(), 'resources')).toEqual({
      requests: { cpu: '100m', memory: '128Mi' },
      limits: { cpu: '1', memory: '256Mi' },
    });
  });

  test('has time to finish what it does', () => {
    expect(pod()).toMatchObject({ terminationGracePeriodSeconds: 30 });
  });

  test('is not taken for a child of the operator', () => {
    expect(deployment().metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'cdk8s' });
  });

  test('and its Service hold nothing that the API server drops', () => {
    expect(emptiesIn([deployment(), ...ofKind('Service')])).toEqual([]);
  });

  test('offers metrics, and only them, inside the cluster', () => {
    expect(ofKind('Service')[0]?.['spec']).toMatchObject({
      type: 'ClusterIP',
      ports: [{ name: 'metrics', port: 8080, targetPort: 'metrics', protocol: 'TCP' }],
    });
  });
});

describe('the samples', () => {
  test('are those in the folders of the kinds', () => {
    const folder = join(import.meta.dirname, 'webserver', 'samples');
    const files = readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), 'utf8')) as KubeObject);
    const inDefault = files.map((object) => ({ ...object, metadata: { ...object.metadata, namespace: 'default' } }));
    const byName = (one: KubeObject, other: KubeObject) => one.metadata.name.localeCompare(other.metadata.name);
    expect(ofKind('WebServer').sort(byName)).toEqual(inDefault.sort(byName));
  });

  test('go where they are asked to, or nowhere', () => {
    const raw = { watchNamespaces: 'team-a,team-b', samplesNamespace: 'team-b' };
    expect(ofKind('WebServer', raw).map(({ metadata }) => metadata.namespace)).toEqual(['team-b', 'team-b']);
    expect(installed({ samples: false }).map(({ chart }) => chart)).toEqual(['0-definitions', '1-operator']);
  });
});
