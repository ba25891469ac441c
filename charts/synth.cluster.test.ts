/** A real API server judges every object that is synthesized: strictly, and in a namespace that enforces PodSecurity `restricted`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { parse } from 'yaml';
import { parseInstallOptions } from '../crds/install-options.ts';
import { installCharts } from '../crds/install.ts';
import { kinds } from '../crds/index.ts';
import { fillDefaults } from '../crds/defaults.ts';
import { definitionOf, rootSchemaOf, type Resource } from '../crds/kind.ts';
import { WebServer } from '../crds/webserver/index.ts';
import { bodyOf, eventually, testApi, type Answer, type TestApi } from '../test/api.ts';
import { at, childrenOf, emptiesIn, missingFrom } from '../test/manifests.ts';
import { canonicalQuantity } from './quantity.ts';
import type { KubeObject } from './resource.ts';

/** The plural of each kind that is synthesized, and its place in the API; a new kind of object must be named here. */
const paths: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ServiceAccount: '/api/v1/namespaces/*/serviceaccounts',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/*/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/*/rolebindings',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Deployment: '/apis/apps/v1/namespaces/*/deployments',
  Service: '/api/v1/namespaces/*/services',
  Pod: '/api/v1/namespaces/*/pods',
  WebServer: '/apis/webserver.example.com/v1/namespaces/*/webservers',
};

function collectionOf({ kind, metadata }: KubeObject): string {
  const path = paths[kind];
  if (path === undefined) throw new Error(`this test does not know where ${kind} is served: add it to its paths`);
  return path.replace('*', metadata.namespace ?? '');
}

let api: TestApi;
let namespace: string;
let unrestricted: string;

beforeAll(async () => {
  api = testApi();
  for (const kind of kinds) await api.establish(definitionOf(kind));
  [namespace, unrestricted] = [await api.namespace(), await api.namespace()];
  // The very labels of the synthesized namespace; its own name is the test's.
  const [installedNamespace] = objectsOf({ namespace });
  bodyOf(await applied(installedNamespace as KubeObject, {}));
  await eventually(
    () => api.request('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    ({ status }) => status === 200,
  );
}, 60_000);

afterAll(() => {
  api.close();
});

const objectsOf = (raw: Readonly<Record<string, unknown>>): readonly KubeObject[] =>
  installCharts(new App(), parseInstallOptions(raw)).flatMap((chart) => chart.toJson() as KubeObject[]);

const dryRun = { dryRun: 'All' };

function applied(object: KubeObject, query: Readonly<Record<string, string>> = dryRun): Promise<Answer<KubeObject>> {
  return api.request<KubeObject>('PATCH', `${collectionOf(object)}/${object.metadata.name}`, object, {
    contentType: 'application/apply-patch+yaml',
    query: { fieldManager: 'synth-test', force: 'true', fieldValidation: 'Strict', ...query },
  });
}

/** What the API server says against the object. */
async function complaintsAbout(object: KubeObject): Promise<readonly string[]> {
  const { status, body, warnings } = await applied(object);
  return [...(status < 300 ? [] : [`${status} ${JSON.stringify(body)}`]), ...warnings];
}

/** A pod of the Deployment, as its ReplicaSet would make it: here PodSecurity enforces; for Deployments it only warns. */
const podOf = (deployment: KubeObject): KubeObject => ({
  ...(at(deployment, 'spec.template') as KubeObject),
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...(at(deployment, 'spec.template.metadata') as KubeObject['metadata']),
    name: deployment.metadata.name,
    namespace,
  },
});

function sampleChildren(name: string): readonly KubeObject[] {
  const file = join(import.meta.dirname, '..', 'crds', 'webserver', 'samples', `${name}.yaml`);
  const written = parse(readFileSync(file, 'utf8')) as KubeObject;
  const resource = fillDefaults(rootSchemaOf(WebServer), written) as Resource;
  return childrenOf(WebServer, { ...resource, metadata: { ...resource.metadata, namespace } });
}

describe('every object that is installed', () => {
  test.each([
    ['for one namespace', {}],
    ['for all namespaces', { watchNamespaces: '*' }],
  ])('%s passes a strict dry run without a warning', async (_name, raw) => {
    const objects = objectsOf({ namespace, watchNamespaces: namespace, samplesNamespace: namespace, ...raw });
    expect(objects.length).toBeGreaterThan(10);
    for (const object of objects)
      expect([object.kind, object.metadata.name, await complaintsAbout(object)]).toEqual([
        object.kind,
        object.metadata.name,
        [],
      ]);
  });

  test('is stored as it was written: the server changes no field', async () => {
    for (const object of objectsOf({ namespace, watchNamespaces: namespace, samplesNamespace: namespace }))
      expect(missingFrom(bodyOf(await applied(object)), object)).toEqual([]);
  });

  test('is judged by a server that does complain: about a field that does not exist, and about a pod that may be root', async () => {
    const deployment = objectsOf({ namespace }).find(({ kind }) => kind === 'Deployment') as KubeObject;
    const spec = deployment['spec'] as object;
    const [unknownField] = await complaintsAbout({ ...deployment, spec: { ...spec, colour: 'blue' } });
    expect(unknownField).toMatch(/field not declared in schema|unknown field/);
    const container = at(deployment, 'spec.template.spec.containers.0') as object;
    const template = {
      ...(at(spec, 'template') as object),
      spec: { containers: [{ ...container, securityContext: {} }] },
    };
    const [violation] = await complaintsAbout({ ...deployment, spec: { ...spec, template } });
    expect(violation).toContain('would violate PodSecurity \\"restricted:latest\\"');
  });

  test('makes a pod of the operator that PodSecurity lets in', async () => {
    const objects = objectsOf({ namespace, watchNamespaces: namespace });
    const account = objects.find(({ kind }) => kind === 'ServiceAccount') as KubeObject;
    bodyOf(await applied(account, {}));
    const deployment = objects.find(({ kind }) => kind === 'Deployment') as KubeObject;
    expect(await complaintsAbout(podOf(deployment))).toEqual([]);
  });
});

describe('the children of the samples', () => {
  test.each(['minimal', 'full'])('of %s pass a strict dry run without a warning, pods included', async (name) => {
    const children = sampleChildren(name);
    expect(children.map(({ kind }) => kind)).toEqual(['Deployment', 'Service']);
    for (const child of children) expect(await complaintsAbout(child)).toEqual([]);
    expect(await complaintsAbout(podOf(children[0] as KubeObject))).toEqual([]);
  });

  test.each(['minimal', 'full'])('of %s are stored as they were written', async (name) => {
    for (const child of sampleChildren(name)) {
      expect(emptiesIn(child)).toEqual([]);
      expect(missingFrom(bodyOf(await applied(child)), child)).toEqual([]);
    }
  });

  test('open no port of the nodes', async () => {
    const service = sampleChildren('minimal').find(({ kind }) => kind === 'Service') as KubeObject;
    const stored = bodyOf(await applied(service));
    expect(at(stored, 'spec.type')).toBe('ClusterIP');
    expect(at(stored, 'spec.ports.0')).toEqual({ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' });
  });
});

/** Path and value of every key that only Kubernetes' schemas have. */
const extensionsIn = (value: unknown, path = ''): readonly string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [
        ...(name.startsWith('x-kubernetes-') ? [`${path}/${name} ${JSON.stringify(inner)}`] : []),
        ...extensionsIn(inner, `${path}/${name}`),
      ]);

describe('a definition', () => {
  test.each(kinds.map((kind) => [kind.kind, kind] as const))(
    'of %s is served with every x-kubernetes-* key, and all else that it says',
    async (_name, kind) => {
      const [synthesized] = objectsOf({ namespace }).filter(
        (object) => object.kind === 'CustomResourceDefinition' && at(object, 'spec.names.kind') === kind.kind,
      );
      const path = `${paths['CustomResourceDefinition'] ?? ''}/${kind.plural}.${kind.group}`;
      const served = bodyOf(await api.request<KubeObject>('GET', path));
      expect(extensionsIn(synthesized?.['spec']).length).toBeGreaterThan(0);
      expect([...extensionsIn(served['spec'])].sort()).toEqual([...extensionsIn(definitionOf(kind)['spec'])].sort());
      expect(missingFrom(served['spec'], synthesized?.['spec'])).toEqual([]);
    },
  );
});

describe('a quantity', () => {
  const written = '1000m 1 0.5 1.5 0 0Mi 1000 1024 1024Mi 2048Mi 1.5Gi 512Ki 0.5Ki 0.001Gi 1000k 0.0001 1.0005'.split(
    ' ',
  );
  const systematic = ['m', '', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'].flatMap((suffix) =>
    ['1', '7', '999', '1000', '1023', '1024', '1500', '2048', '1000000', '1048576', '0.1', '2.25'].map(
      (amount) => `${amount}${suffix}`,
    ),
  );

  test('is spelt as the API server spells it', async () => {
    const spelt = await Promise.all([...written, ...systematic].map(async (text) => [text, await spellingOf(text)]));
    expect(spelt).toEqual([...written, ...systematic].map((text) => [text, canonicalQuantity(text)]));
  });

  async function spellingOf(text: string): Promise<unknown> {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'quota' },
      spec: { hard: { cpu: text } },
    };
    const path = `/api/v1/namespaces/${unrestricted}/resourcequotas`;
    return at(bodyOf(await api.request('POST', path, quota, { query: dryRun })), 'spec.hard.cpu');
  }
});
