/** The watch machine on a real API server: what the fake one cannot vouch for. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { bodyOf, eventually, testApi } from '../../test/api.ts';
import { Gizmo, gizmoDefinition } from '../../test/fake-apiserver/scenario.ts';
import { RecordingLog } from '../../test/recording-log.ts';
import { kubeconfigThrough, tcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts';
import { systemClock } from '../clock.ts';
import type { Client, WatchQuery } from '../kube/client.ts';
import { createClient, kubeconfigConnection, type ClosableClient } from '../kube/connect.ts';
import type { Connection } from '../kube/connection.ts';
import { createCache, type WatchedCache } from './cache.ts';
import { listAll } from './pager.ts';
import { ownFieldsEntry, trimObject } from './trim.ts';

const ConfigMap: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
};

const kubeconfig = process.env['REPRISE_TEST_KUBECONFIG'] ?? '';
const api = testApi();
const never = new AbortController().signal;
const trim = (object: KubeObject): KubeObject => trimObject(object, { fieldManager: 'reprise' });

let folder: string;
let proxy: TcpProxy;
let through: Connection;
let namespace: string;
const closing: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  await api.establish(gizmoDefinition);
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-watch-'));
  proxy = await tcpProxy(new URL(api.server));
  const path = join(folder, 'kubeconfig');
  kubeconfigThrough(proxy, kubeconfig, path);
  through = await kubeconfigConnection({ path });
  namespace = await api.namespace();
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await proxy[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

afterAll(() => api.close());

interface Watched {
  readonly cache: WatchedCache;
  readonly client: ClosableClient;
  readonly log: RecordingLog;
  /** Queries of its watches. */
  readonly watches: WatchQuery[];
  readonly told: string[];
  readonly restarts: string[];
}

interface WatchOptions {
  readonly type?: ResourceType;
  readonly connection?: Connection;
  /** Changes what a watch asks for. */
  readonly meddle?: (query: WatchQuery, count: number) => WatchQuery;
}

/** A running cache of the test's namespace. */
const watch = ({ type = Gizmo, connection = through, meddle = (query) => query }: WatchOptions = {}): Watched => {
  const client = createClient({ connection, fieldManager: 'reprise' });
  const log = new RecordingLog();
  const [watches, told, restarts]: [WatchQuery[], string[], string[]] = [[], [], []];
  const recording: Pick<Client, 'list' | 'watch'> = {
    list: (...query) => client.list(...query),
    watch: (of, query, signal, opened) => {
      watches.push(query);
      return client.watch(of, meddle(query, watches.length), signal, opened);
    },
  };
  const observer = {
    watchEvent: () => undefined,
    watchRestarted: (_: string, reason: string) => void restarts.push(reason),
  };
  const common = { clock: systemClock, random: Math.random, log, observer };
  const cache = createCache({ client: recording, type, namespaces: [namespace], trim, ...common });
  cache.subscribe((change) => told.push(`${change.type} ${change.object.metadata.name}`));
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  closing.push(async () => {
    stop.abort(new Error('the test is over'));
    await running;
    client.close();
  });
  return { cache, client, log, watches, told, restarts };
};

const synced = async (options: WatchOptions = {}): Promise<Watched> => {
  const watched = watch(options);
  await until(() => watched.cache.health().watching);
  return watched;
};

const until = (holds: () => boolean): Promise<boolean> => eventually(() => Promise.resolve(holds()), Boolean);

const path = (name = ''): string =>
  `/apis/oracle.example.com/v1/namespaces/${namespace}/gizmos${name === '' ? '' : `/${name}`}`;
const gizmo = (name: string, size = 1): KubeObject => ({
  apiVersion: 'oracle.example.com/v1',
  kind: 'Gizmo',
  metadata: { name, namespace },
  spec: { size },
});
const create = async (name: string): Promise<KubeObject> =>
  bodyOf(await api.request<KubeObject>('POST', path(), gizmo(name)));
const remove = (name: string) => api.request('DELETE', path(name));

describe('on a real API server', () => {
  test('a streamed list, then changes; our own write is seen as soon as it is answered', async () => {
    await create('before');
    const { cache, client, told, watches } = await synced();
    expect(watches).toMatchObject([{ sendInitialEvents: true }]);
    expect(told).toEqual(['added before']);
    const ours = await client.create(Gizmo, gizmo('ours'), never);
    cache.written(ours);
    expect(cache.get(namespace, 'ours')?.metadata.uid).toBe(ours.metadata.uid);
    await create('theirs');
    await until(() => told.includes('added theirs'));
    // Its own event is silent, unless it overtook the answer.
    expect(told.filter((change) => change !== 'added ours')).toEqual(['added before', 'added theirs']);
    expect(ownFieldsEntry(cache.get(namespace, 'ours')!, 'reprise', 'Update')).toEqual({
      manager: 'reprise',
      operation: 'Update',
      index: 0,
    });
  });

  test('a cut connection is resumed from the last version: one list in all, nothing missed, nothing told twice', async () => {
    const { cache, told, watches } = await synced();
    await create('a');
    await until(() => told.length === 1);
    await proxy.cut();
    await create('b');
    await remove('a');
    await create('a');
    await until(() => cache.health().failures > 1);
    expect(cache.health()).toMatchObject({ synced: true, watching: false });
    await proxy.restore();
    await until(() => told.length === 4);
    expect(told).toEqual(['added a', 'added b', 'deleted a', 'added a']);
    expect(watches.filter(({ sendInitialEvents }) => sendInitialEvents === true)).toHaveLength(1);
    expect(cache.health().watching).toBe(true);
  });

  test('the server’s own 410 leads to one new list, told as differences', async () => {
    const { cache, told, watches, restarts } = await synced({
      meddle: (query, count) => (count === 2 ? { ...query, resourceVersion: '1' } : query),
    });
    await create('kept');
    await create('gone');
    await until(() => told.length === 2);
    await proxy.cut();
    await remove('gone');
    await create('new');
    await proxy.restore();
    await until(() => told.length === 4);
    expect(new Set(told.slice(2))).toEqual(new Set(['deleted gone', 'added new']));
    expect(restarts).toContain('Expired');
    expect(watches.filter(({ sendInitialEvents }) => sendInitialEvents === true)).toHaveLength(2);
    expect(Array.from(cache.list(), ({ metadata }) => metadata.name).sort()).toEqual(['kept', 'new']);
  });

  test('a list in pages is one state, and its items name their type', async () => {
    for (let i = 0; i < 3; i += 1) {
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${i}` } };
      bodyOf(await api.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, map));
    }
    const { client } = await synced({ type: ConfigMap });
    let pages = 0;
    const paging: Pick<Client, 'list'> = {
      list: (type, query, signal) => {
        pages += 1;
        return client.list(type, { ...query, limit: 2 }, signal);
      },
    };
    const { items, version } = await listAll(
      { client: paging, type: ConfigMap, namespace, trim },
      never,
      () => undefined,
    );
    // kube-root-ca.crt comes by itself, if the controller manager runs.
    expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['m0', 'm1', 'm2']));
    expect(new Set(items.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))).toEqual(new Set(['v1 ConfigMap']));
    expect(pages).toBeGreaterThan(1);
    expect(Number(version)).toBeGreaterThan(0);
  });

  test('a streamed list and a paged one of the same objects are the same', async () => {
    for (let i = 0; i < 5; i += 1) await create(`g${i}`);
    const { cache, client } = await synced();
    const { items } = await listAll({ client, type: Gizmo, namespace, trim }, never, () => undefined);
    expect(new Set(cache.list())).toEqual(new Set(items));
  });

  test('a definition that comes late is waited for, through 404 and the 429 of its first moments', async () => {
    const Late: ResourceType = { ...Gizmo, kind: 'Late', plural: `lates`, group: `late-${namespace}.example.com` };
    const { cache, log } = watch({ type: Late });
    await until(() => cache.health().failures > 1);
    expect(log.at('warn')).toMatchObject([
      { message: 'the type is not served; waiting for its definition to be installed' },
    ]);
    const { spec } = gizmoDefinition;
    await api.establish({
      ...gizmoDefinition,
      metadata: { name: `lates.${Late.group}` },
      spec: {
        ...spec,
        group: Late.group,
        names: { kind: 'Late', plural: 'lates', singular: 'late', listKind: 'LateList' },
      },
    });
    await until(() => cache.hasSynced);
    expect(cache.health()).toMatchObject({ watching: true, failures: 0 });
  });

  test('a missing right is reported, and watching begins when it is granted', async () => {
    const token = await tokenOf('watcher');
    const connection: Connection = {
      ...through,
      credentials: () => Promise.resolve({ authorization: `Bearer ${token}`, tls: { ca: caOf(kubeconfig) } }),
    };
    const { cache, log } = watch({ connection });
    await until(() => cache.health().failures > 1);
    expect(log.at('warn')).toMatchObject([{ message: 'no right to list and watch; waiting for it to be granted' }]);
    expect(cache.health().lastError).toMatch(/gizmos.oracle.example.com is forbidden/);
    await grant('watcher');
    await until(() => cache.health().watching);
  });
});

/** A ServiceAccount of the test's namespace, and a token for it. */
const tokenOf = async (name: string): Promise<string> => {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  bodyOf(await api.request('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }));
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const answer = await api.request<{ status: { token: string } }>('POST', `${accounts}/${name}/token`, request);
  return bodyOf(answer).status.token;
};

const grant = async (account: string): Promise<void> => {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const metadata = { name: 'watch-gizmos' };
  const rules = [{ apiGroups: [Gizmo.group], resources: [Gizmo.plural], verbs: ['list', 'watch'] }];
  bodyOf(await api.request('POST', `${rbac}/roles`, { metadata, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  bodyOf(await api.request('POST', `${rbac}/rolebindings`, { metadata, roleRef, subjects }));
};

/** The file or the data, as the kubeconfig has it. */
const caOf = (file: string): string => {
  const text = readFileSync(file, 'utf8');
  const [, data] = /certificate-authority-data: (\S+)/.exec(text) ?? [];
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  return readFileSync(/certificate-authority: (\S+)/.exec(text)?.[1] ?? '', 'utf8');
};
