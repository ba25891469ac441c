/**
 * The life of an installation: the program of this repository, Pulumi's real CLI and engine, the stand-in provider, a real API
 * server. It installs what exists once per cluster, so it has a cluster of its own. The tests build on each other, in order.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bodyOf, eventually, testApi } from '../test/api.ts';
import type { AnyObject, TestApi } from '../test/api.ts';
import { startCluster } from './cluster.ts';
import type { LocalCluster } from './cluster.ts';
import { serveLanguageHost } from './fixtures/language-host.ts';
import { findPrograms } from './programs.ts';
import { serveProvider } from './provider/server.ts';
import { PulumiFailed, PulumiSession } from './pulumi.ts';
import type { PulumiOptions } from './pulumi.ts';

interface Live {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = `${crds}/webservers.webserver.example.com`;
const sample = '/apis/webserver.example.com/v1/namespaces/default/webservers/hello';
const deployment = '/apis/apps/v1/namespaces/reprise-system/deployments/reprise';
const namespace = '/api/v1/namespaces/reprise-system';
const merge = { contentType: 'application/merge-patch+json' };

let cluster: LocalCluster;
let api: TestApi;
let cli: string;
let folder: string;
let session: PulumiSession;
let emptyCluster: readonly string[];
const said: string[] = [];
const cleanup = new AsyncDisposableStack();

const openSession = (options: Partial<PulumiOptions> = {}): Promise<PulumiSession> =>
  PulumiSession.open({
    cli,
    folder: join(folder, 'pulumi'),
    settings: { kubeconfig: cluster.kubeconfig },
    provider: 'stand-in',
    progress: { say: (line) => said.push(line), update: () => undefined },
    ...options,
  });

const get = async (path: string): Promise<Live> => bodyOf(await api.request<Live & AnyObject>('GET', path));
const statusOf = async (path: string): Promise<number> => (await api.request('GET', path)).status;
const patch = async (path: string, body: object): Promise<void> =>
  void bodyOf(await api.request('PATCH', path, body, merge));

/** Everything that an installation could leave behind, by path; what the cluster makes by itself in time is left out. */
async function inventory(): Promise<readonly string[]> {
  const lists = [
    '/api/v1/namespaces',
    '/api/v1/services',
    '/api/v1/serviceaccounts',
    '/apis/apps/v1/deployments',
    '/apis/rbac.authorization.k8s.io/v1/roles',
    '/apis/rbac.authorization.k8s.io/v1/rolebindings',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    crds,
  ];
  const found = await Promise.all(
    lists.map(async (path) => {
      const { items } = bodyOf(await api.request<{ items: readonly Live[] }>('GET', path));
      return items.map(({ metadata }) => `${path} ${metadata.namespace ?? ''}/${metadata.name}`);
    }),
  );
  return found
    .flat()
    .filter((line) => !line.includes('serviceaccounts kube-'))
    .sort();
}

/** A resource that Pulumi does not know of. */
async function makeMine(): Promise<void> {
  const mine = {
    apiVersion: 'webserver.example.com/v1',
    kind: 'WebServer',
    metadata: { name: 'mine' },
    spec: { replicas: 1 },
  };
  bodyOf(await api.request('POST', '/apis/webserver.example.com/v1/namespaces/default/webservers', mine));
}

beforeAll(async () => {
  ({ pulumi: cli } = await findPrograms(['pulumi']));
  cluster = cleanup.use(await startCluster({ nodes: 1 }));
  api = cleanup.adopt(testApi(cluster.kubeconfig), (each) => each.close());
  folder = cleanup.adopt(mkdtempSync(join(tmpdir(), 'reprise-pulumi-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
  emptyCluster = await inventory();
  session = cleanup.use(await openSession());
}, 120_000);

afterAll(() => cleanup.disposeAsync());

test('a setting out of range is told with the name of its key', async () => {
  const wrong = session.configure({ kubeconfig: cluster.kubeconfig, replicas: 11 });
  await expect(wrong).rejects.toThrow(PulumiFailed);
  await expect(wrong).rejects.toThrow(/reprise:replicas: expected .*; got 11/);
});

test('a cluster that does not answer is told in one line, before the engine runs', async () => {
  const kubeconfig = join(folder, 'nobody');
  const address = /server: .*/;
  writeFileSync(kubeconfig, readFileSync(cluster.kubeconfig, 'utf8').replace(address, 'server: https://127.0.0.1:1'));
  await session.configure({ kubeconfig });
  await expect(session.up()).rejects.toThrow(
    /^the cluster cannot be used: no answer from https:\/\/127\.0\.0\.1:1 \(context .*\): connection refused$/,
  );
  await session.configure({ kubeconfig, context: 'nope' });
  await expect(session.up()).rejects.toThrow(/^the cluster cannot be used: kubeconfig .* has no context "nope"/);
  await session.configure({ kubeconfig: cluster.kubeconfig });
});

test('a definition of another owner is left as it is, and nothing else is installed', async () => {
  const names = { kind: 'WebServer', plural: 'webservers' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const foreign = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'webservers.webserver.example.com' },
    spec: {
      group: 'webserver.example.com',
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  await api.establish(foreign);
  const before = await get(definition);
  const failure = await session.up().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(PulumiFailed);
  expect((failure as Error).message).toMatch(
    /^pulumi preview: CustomResourceDefinition webservers\.webserver\.example\.com: exists already and belongs to \S+ \(since .*\)\. It was left as it is\. /,
  );
  expect((await get(definition)).spec).toEqual(before.spec);
  expect(await statusOf(namespace)).toBe(404);
  await api.request('DELETE', definition);
  await eventually(
    () => statusOf(definition),
    (status) => status === 404,
  );
}, 60_000);

test('an installation that was interrupted is completed by the next one', async () => {
  const abort = new AbortController();
  const say = (line: string): void => {
    if (line.startsWith('[2/')) abort.abort(new Error('enough'));
  };
  await using impatient = await openSession({ signal: abort.signal, progress: { say, update: say } });
  await expect(impatient.up()).rejects.toThrow('enough');
  const changes = await session.up();
  expect(Object.keys(changes).sort()).toEqual(expect.arrayContaining(['create', 'same']));
  expect(await statusOf(sample)).toBe(200);
}, 90_000);

test('progress counts the objects that were made', () => {
  const steps = said.filter((line) => line.startsWith('['));
  const [, done, of] = /^\[(\d+)\/(\d+)\] created WebServer default\/\S+ \(\d+\.\d s\)$/.exec(steps.at(-1) ?? '') ?? [];
  expect(Number(done)).toBe(steps.length);
  expect(done).toBe(of);
});

test('workloads come after their rights, samples after everything', () => {
  const state = JSON.parse(readFileSync(join(folder, 'pulumi/state/.pulumi/stacks/reprise/local.json'), 'utf8')) as {
    checkpoint: { latest: { resources: readonly { urn: string; dependencies?: readonly string[] }[] } };
  };
  const { resources } = state.checkpoint.latest;
  const neededBy = (type: string): readonly string[] =>
    (resources.find(({ urn }) => urn.includes(`${type}::`))?.dependencies ?? []).map(
      (urn) => /:([A-Za-z]+)::/.exec(urn.slice(urn.lastIndexOf('$')))?.[1] ?? urn,
    );
  expect(neededBy('ServiceAccount')).toEqual(expect.arrayContaining(['Namespace', 'CustomResourceDefinition']));
  expect(neededBy('Deployment')).toEqual(expect.arrayContaining(['ServiceAccount', 'Role', 'RoleBinding']));
  expect(neededBy('Deployment')).not.toContain('Service');
  expect(neededBy('WebServer')).toEqual(expect.arrayContaining(['Deployment', 'Service', 'CustomResourceDefinition']));
});

test('the outputs say what was installed and where', async () => {
  await expect(session.outputs()).resolves.toMatchObject({
    namespace: 'reprise-system',
    kinds: ['WebServer (webserver.example.com/v1)'],
    samples: ['default/hello', 'default/docs'],
  });
});

test('a second up changes nothing, also after the operator has written and after refresh', async () => {
  await patch(`${sample}/status`, { status: { replicas: 2, readyReplicas: 2, observedGeneration: 1, conditions: [] } });
  await patch(sample, { metadata: { finalizers: ['reprise.example.com/x'], annotations: { note: 'by others' } } });
  const paths = [definition, namespace, sample];
  const before = await Promise.all(paths.map(get));
  expect(Object.keys(await session.up())).toEqual(['same']);
  expect(Object.keys(await session.refresh())).toEqual(['same']);
  expect(Object.keys(await session.up())).toEqual(['same']);
  const after = await Promise.all(paths.map(get));
  expect(after.map(({ metadata }) => metadata.resourceVersion)).toEqual(
    before.map(({ metadata }) => metadata.resourceVersion),
  );
  await patch(sample, { metadata: { finalizers: null } });
}, 90_000);

test('what others changed is found by refresh and set back by up', async () => {
  await patch(sample, { spec: { replicas: 5 } });
  await patch('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/reprise', { rules: [] });
  await expect(session.refresh()).resolves.toMatchObject({ update: 2 });
  await expect(session.up()).resolves.toMatchObject({ update: 2 });
  expect((await get(sample)).spec['replicas']).toBe(2);
}, 60_000);

test('an option changes the one object that it concerns', async () => {
  await session.configure({ kubeconfig: cluster.kubeconfig, logLevel: 'debug' });
  const { same, ...changed } = await session.up();
  expect(changed).toEqual({ update: 1 });
  expect(same).toBeGreaterThan(10);
  expect(JSON.stringify((await get(deployment)).spec)).toContain('--log-level=debug');
}, 60_000);

test('destroy warns of resources that others made before it asks, and a no leaves everything', async () => {
  await makeMine();
  const heard: string[] = [];
  const confirm = (warnings: readonly string[]): boolean => {
    heard.push(...warnings);
    return false;
  };
  await expect(session.destroy({ confirm })).resolves.toBeUndefined();
  expect(heard).toEqual([
    'deleting the definition webservers.webserver.example.com also deletes 1 WebServer of others: default/mine',
  ]);
  expect(await statusOf(sample)).toBe(200);
  expect(await statusOf(deployment)).toBe(200);
}, 60_000);

test('destroy leaves nothing behind', async () => {
  said.length = 0;
  await session.destroy();
  expect(said[0]).toBe(
    'Warning: deleting the definition webservers.webserver.example.com also deletes 1 WebServer of others: default/mine',
  );
  expect(await inventory()).toEqual(emptyCluster);
}, 120_000);

test('the plain CLI runs the same program; its destroy needs --run-program, warns first, and leaves nothing behind', async () => {
  await using languages = await serveLanguageHost();
  await using provider = await serveProvider();
  const stack = `test-${process.pid}`;
  const env = {
    ...process.env,
    PULUMI_HOME: join(folder, 'home'),
    PULUMI_BACKEND_URL: pathToFileURL(folder).href,
    PULUMI_CONFIG_PASSPHRASE: '',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DEBUG_LANGUAGES: `nodejs:${languages.port}`,
    PULUMI_DEBUG_PROVIDERS: `kubernetes:${provider.port}`,
  };
  const root = join(import.meta.dirname, '..');
  const pulumi = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(cli, [...args, '--non-interactive', '--color=never'], {
      env,
      cwd: root,
    });
    return stdout + stderr;
  };
  cleanup.defer(() => rmSync(join(root, `Pulumi.${stack}.yaml`), { force: true }));
  await pulumi('stack', 'init', stack);
  await pulumi('config', 'set-all', '--plaintext', `kubeconfig=${cluster.kubeconfig}`, '--plaintext', 'samples=false');

  const up = await pulumi('up', '--yes', '--skip-preview');
  expect(up).toMatch(/\+ \d+ created/);
  expect(up).toContain('uninstall        : "pulumi destroy --run-program"');
  await makeMine();

  const refused = await pulumi('destroy', '--yes').catch((error: unknown) => (error as { stderr: string }).stderr);
  expect(refused).toContain('You must run with the `--run-program` flag');
  expect(await statusOf(deployment)).toBe(200);

  const destroyed = await pulumi('destroy', '--run-program', '--yes');
  const warned = destroyed.indexOf('also deletes 1 WebServer of others: default/mine');
  expect(warned).toBeGreaterThan(0);
  expect(warned).toBeLessThan(destroyed.indexOf('Destroying ('));
  expect(await inventory()).toEqual(emptyCluster);
}, 120_000);
