/**
 * What the engine rests on and only a real API server can say: who owns which field, what an apply takes away and leaves,
 * what preconditions hold. Everything is looked at past the operator's client.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject, ManagedFieldsEntry, ResourceType } from '../../charts/resource.ts';
import { definitionOf } from '../../crds/kind.ts';
import { Deployment, Service, type OwnedType } from '../../crds/owned.ts';
import { bodyOf, eventually, testApi } from '../../test/api.ts';
import { RecordingLog } from '../../test/recording-log.ts';
import { Toy, type ToyResource } from '../../test/toy-kind.ts';
import { systemClock } from '../clock.ts';
import type { EventInput } from '../events/recorder.ts';
import type { Client } from '../kube/client.ts';
import { createClient, kubeconfigConnection, type ClosableClient } from '../kube/connect.ts';
import { ApiError } from '../kube/errors.ts';
import type { Observer } from '../metrics/observer.ts';
import { createCache } from '../watch/cache.ts';
import { trimObject } from '../watch/trim.ts';
import { createController } from './controller.ts';
import { differences } from './diff.ts';

const fieldManager = 'reprise';
const api = testApi();
let client: ClosableClient;
let namespace: string;

beforeAll(async () => {
  await api.establish(definitionOf(Toy));
  const connection = await kubeconfigConnection({ path: process.env['REPRISE_TEST_KUBECONFIG']! });
  client = createClient({ connection, fieldManager });
});

afterAll(() => {
  client.close();
  api.close();
});

interface LiveDeployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

const merge = { contentType: 'application/merge-patch+json' };
const strategic = { contentType: 'application/strategic-merge-patch+json', query: { fieldManager: 'kubectl-edit' } };
const byHand = { ...merge, query: { fieldManager: 'kubectl-edit' } };

const pathOf = {
  toy: (name = '') => `/apis/engine.test.example.com/v1/namespaces/${namespace}/toys/${name}`,
  deployment: (name = 'web') => `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
  service: (name = 'web') => `/api/v1/namespaces/${namespace}/services/${name}`,
};

const silent = new Proxy({} as Observer, { get: () => () => undefined });

/** A controller with its caches, in this process: reads of the server by it are listed, as are writes. */
function startOperator(resyncMs = 30_000) {
  const requests: string[] = [];
  const counting = new Proxy<Client>(client, {
    get: (target, verb) => {
      const method: unknown = Reflect.get(target, verb);
      if (typeof method !== 'function') return method;
      return (type: ResourceType, ...rest: readonly unknown[]): unknown => {
        requests.push(`${String(verb)} ${type.kind}`);
        return Reflect.apply(method, target, [type, ...rest]);
      };
    },
  });
  const log = new RecordingLog();
  const events: EventInput[] = [];
  const stop = new AbortController();
  const common = { client, namespaces: [namespace], clock: systemClock, random: Math.random, log, observer: silent };
  const trim = (object: KubeObject) => trimObject(object, { fieldManager });
  const primary = createCache({ ...common, type: Toy, trim });
  const labelSelector = 'app.kubernetes.io/managed-by=reprise';
  const children = new Map(
    [Deployment, Service].map((type: OwnedType) => [type, createCache({ ...common, type, trim, labelSelector })]),
  );
  const controller = createController({
    ...{ kind: Toy, primary, children, client: counting, fieldManager, log, observer: silent, resyncMs },
    ...{ clock: systemClock, random: Math.random },
    recorder: { event: (_regarding, input) => void events.push(input) },
  });
  const watches = [primary, ...children.values()].map((cache) => cache.run(stop.signal));
  const work = controller.run(stop.signal);
  return {
    requests,
    log,
    events,
    controller,
    stop: async () => {
      stop.abort();
      await Promise.all([work, ...watches]);
    },
  };
}

let operator: ReturnType<typeof startOperator>;

beforeEach(async () => {
  namespace = await api.namespace();
  operator = startOperator();
});

afterEach(() => operator.stop());

async function get<T extends KubeObject>(path: string): Promise<T> {
  return bodyOf(await api.request<T>('GET', path));
}

/** 404 gives undefined. */
async function find<T extends KubeObject>(path: string): Promise<T | undefined> {
  const answer = await api.request<T>('GET', path);
  return answer.status === 404 ? undefined : bodyOf(answer);
}

async function createToy(spec: object): Promise<void> {
  const toy = { apiVersion: 'engine.test.example.com/v1', kind: 'Toy', metadata: { name: 'web' }, spec };
  bodyOf(await api.request('POST', pathOf.toy(), toy));
}

/** Writes the spec as a whole: what is not in it is gone. The operator may write the status meanwhile: that is no conflict. */
async function setSpec(spec: object): Promise<void> {
  const { metadata } = await get<ToyResource>(pathOf.toy('web'));
  const patch = [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'replace', path: '/spec', value: spec },
  ];
  bodyOf(await api.request('PATCH', pathOf.toy('web'), patch, { contentType: 'application/json-patch+json' }));
}

const toyNow = () => get<ToyResource>(pathOf.toy('web'));
const degraded = (toy: ToyResource) => toy.status?.conditions.find(({ type }) => type === 'Degraded');

/** The status is of the spec as it is, and the operator says that all is well. */
async function converged(): Promise<void> {
  await eventually(toyNow, (toy) => {
    const isCurrent = toy.status?.observedGeneration === toy.metadata.generation;
    return isCurrent && degraded(toy)?.status === 'False' && operator.controller.health().running === 0;
  });
}

const deploymentNow = () => get<LiveDeployment>(pathOf.deployment());
const containerOf = (deployment: LiveDeployment) =>
  deployment.spec.template.spec.containers.find(({ name }) => name === 'main');
const edit = async (path: string, patch: object, options = byHand) =>
  bodyOf(await api.request('PATCH', path, patch, options));
const ownersOf = (object: KubeObject) =>
  (object.metadata.managedFields as readonly ManagedFieldsEntry[])
    .filter((entry) => entry.subresource === undefined)
    .map(({ manager, operation }) => `${manager} ${operation}`);

describe('children are made by POST and kept by apply', () => {
  const before = { replicas: 0, env: { KEEP: '1', DROP: '2' }, labels: { keep: 'a', drop: 'b' } };
  const after = { replicas: 0, env: { KEEP: '1' }, labels: { keep: 'a' } };

  test('without the renaming a field that is no longer said would stay: the trap is real', async () => {
    const manifest = (annotations: object): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Service' },
      metadata: { name: 'trap', namespace, annotations: annotations as Record<string, string> },
      spec: { ports: [{ port: 80 }] },
    });
    const signal = AbortSignal.timeout(10_000);
    await client.create(Service, manifest({ keep: '1', drop: '2' }), signal);
    await client.apply(Service, manifest({ keep: '1' }), signal);
    const live = await get(pathOf.service('trap'));
    expect(live.metadata.annotations).toEqual({ keep: '1', drop: '2' });
    expect(ownersOf(live).sort()).toEqual(['reprise Apply', 'reprise Update']);
  });

  test('what is no longer said disappears, on the first change after the POST and on later ones', async () => {
    await createToy(before);
    await converged();
    expect(ownersOf(await deploymentNow())).toEqual(['reprise Update']);
    await setSpec(after);
    await converged();
    const first = await deploymentNow();
    expect(containerOf(first)?.env).toEqual([{ name: 'KEEP', value: '1' }]);
    expect(first.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'reprise', keep: 'a' });
    expect(ownersOf(first)).toEqual(['reprise Apply']);
    await setSpec({ replicas: 0 });
    await converged();
    const second = await deploymentNow();
    expect(containerOf(second)?.env).toBeUndefined();
    expect(second.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'reprise' });
  });

  test('what others set survives: annotations, labels, a sidecar, a variable, and replicas that we do not say', async () => {
    const { replicas: _, ...unscaled } = before;
    await createToy(unscaled);
    await converged();
    await edit(pathOf.deployment(), { metadata: { annotations: { theirs: 'x' }, labels: { theirs: 'y' } } });
    const containers = [
      { name: 'sidecar', image: 'mesh:1' },
      { name: 'main', env: [{ name: 'THEIRS', value: 'z' }] },
    ];
    await edit(pathOf.deployment(), { spec: { template: { spec: { containers } } } }, strategic);
    await edit(`${pathOf.deployment()}/scale`, { spec: { replicas: 0 } });
    for (const image of ['nginx:2', 'nginx:3']) {
      await setSpec({ ...unscaled, image });
      await converged();
    }
    const live = await deploymentNow();
    expect(containerOf(live)?.image).toBe('nginx:3');
    expect(containerOf(live)?.env).toEqual(expect.arrayContaining([{ name: 'THEIRS', value: 'z' }]));
    expect(live.spec.template.spec.containers.map(({ name }) => name).sort()).toEqual(['main', 'sidecar']);
    expect(live.spec.replicas).toBe(0);
    expect(live.metadata).toMatchObject({ annotations: { theirs: 'x' }, labels: { theirs: 'y', keep: 'a' } });
  });

  test('an apply names the UID: another object of that name is refused by the server, a missing one is not made', async () => {
    await createToy({ replicas: 0 });
    await converged();
    const signal = AbortSignal.timeout(10_000);
    const apply = async (name: string) => {
      const metadata = { name, namespace, uid: '11111111-2222-3333-4444-555555555555' };
      return client.apply(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec: {} }, signal).then(
        () => 'written',
        (error: unknown) => (error instanceof ApiError ? [error.reason, error.details?.causes?.[0]?.field] : error),
      );
    };
    expect(await apply('web')).toEqual(['Invalid', 'metadata.uid']);
    expect(await apply('missing')).toEqual(['Conflict', undefined]);
    expect(await find(pathOf.service('missing'))).toBeUndefined();
  });
});

describe('at rest', () => {
  test('nothing is asked: after the first pass, at resyncs, and after a restart', async () => {
    await createToy({ replicas: 0, cpu: '1000m', args: ['-v'], env: { A: '1' } });
    await converged();
    expect(operator.requests).toEqual(
      expect.arrayContaining(['create Deployment', 'create Service', 'patchStatus Toy']),
    );
    expect(operator.requests.filter((request) => !request.startsWith('patchStatus'))).toEqual([
      'create Deployment',
      'create Service',
    ]);
    await operator.stop();
    operator = startOperator(100);
    let runs = 0;
    const { log } = operator;
    log.debug = () => undefined;
    await eventually(
      () => Promise.resolve((runs += 1)),
      (count) => operator.controller.health().hasSynced && count > 25,
    );
    expect(operator.requests).toEqual([]);
    expect(log.at('info').filter(({ message }) => message === 'reconciled')).toEqual([]);
  });

  test('what the comparison believes the server to leave out, it leaves out', async () => {
    const desired: KubeObject = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name: 'zeros', namespace, labels: {}, annotations: {} },
      spec: {
        ...{ replicas: 0, minReadySeconds: 0, paused: false },
        selector: { matchLabels: { a: 'zeros' } },
        template: {
          metadata: { labels: { a: 'zeros' }, annotations: {} },
          spec: {
            ...{
              hostNetwork: false,
              hostPID: false,
              hostIPC: false,
              nodeSelector: {},
              tolerations: [],
              hostAliases: [],
            },
            ...{
              hostname: '',
              subdomain: '',
              nodeName: '',
              priorityClassName: '',
              imagePullSecrets: [],
              affinity: null,
            },
            volumes: [{ name: 'v', emptyDir: { medium: '', sizeLimit: '2048Mi' } }],
            containers: [
              {
                ...{ name: 'main', image: 'nginx:1', command: [], args: [], workingDir: '', envFrom: [] },
                ...{ stdin: false, stdinOnce: false, tty: false },
                env: [{ name: 'EMPTY', value: '' }],
                ports: [{ containerPort: 80, hostPort: 0, hostIP: '' }],
                resources: { requests: { cpu: '1000m', memory: '2048Mi' }, limits: {} },
                volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: false, subPath: '', subPathExpr: '' }],
                readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 0 },
                securityContext: {},
              },
            ],
          },
        },
      },
    };
    const live = await client.create(Deployment, desired, AbortSignal.timeout(10_000));
    expect(differences(desired, live)).toEqual([]);
    const service: KubeObject = {
      ...{ apiVersion: 'v1', kind: 'Service' },
      metadata: { name: 'zeros', namespace },
      spec: {
        ...{ selector: {}, externalIPs: [], loadBalancerIP: '', externalName: '', publishNotReadyAddresses: false },
        ports: [{ port: 80, targetPort: 'http' }],
      },
    };
    expect(differences(service, await client.create(Service, service, AbortSignal.timeout(10_000)))).toEqual([]);
  });
});

describe('what others do to children', () => {
  beforeEach(async () => {
    await createToy({ replicas: 0, args: ['-v', '-x'], image: 'nginx:1' });
    await converged();
  });

  test('is undone where we say what should be: a field, an atomic list', async () => {
    await edit(
      pathOf.deployment(),
      { spec: { template: { spec: { containers: [{ name: 'main', image: 'evil:1' }] } } } },
      strategic,
    );
    await eventually(deploymentNow, (live) => containerOf(live)?.image === 'nginx:1');
    await edit(
      pathOf.deployment(),
      { spec: { template: { spec: { containers: [{ name: 'main', args: ['-v'] }] } } } },
      strategic,
    );
    await eventually(deploymentNow, (live) => containerOf(live)?.args?.length === 2);
    const notes = operator.events.map(({ reason, note }) => `${reason}: ${note}`);
    expect(notes).toEqual([
      expect.stringMatching(/^DriftRepaired: Deployment web .*containers\[name=main\]\.image$/),
      expect.stringMatching(/^DriftRepaired: Deployment web .*containers\[name=main\]\.args$/),
    ]);
  });

  test('to the label by which we watch is undone, though the object left our sight', async () => {
    await edit(pathOf.service(), { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } });
    await eventually(
      () => get(pathOf.service()),
      (live) => live.metadata.labels?.['app.kubernetes.io/managed-by'] === 'reprise',
    );
  });

  test('to the owner reference is undone', async () => {
    const { uid } = (await get(pathOf.service())).metadata;
    await edit(pathOf.service(), { metadata: { ownerReferences: null } });
    const live = await eventually(
      () => get(pathOf.service()),
      ({ metadata }) => metadata.ownerReferences?.[0]?.controller === true,
    );
    expect(live.metadata.uid).toBe(uid);
  });

  test('a deleted child is made again', async () => {
    const { uid } = (await get(pathOf.service())).metadata;
    bodyOf(await api.request('DELETE', pathOf.service()));
    await eventually(
      () => find(pathOf.service()),
      (live) => live !== undefined && live.metadata.uid !== uid,
    );
  });

  test('a status that was written over is written again', async () => {
    const status = { deployments: 99, message: 'theirs', conditions: [] };
    await edit(`${pathOf.toy('web')}/status`, { status });
    const toy = await eventually(toyNow, (live) => live.status?.deployments === 1 && degraded(live) !== undefined);
    expect(toy.status).not.toHaveProperty('message');
  });
});

describe('what is not desired', () => {
  test('is deleted, and what is not ours stays', async () => {
    await createToy({ replicas: 0 });
    await converged();
    const stray = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'stray', labels: { 'app.kubernetes.io/managed-by': 'reprise' } },
      spec: { ports: [{ port: 1 }] },
    };
    bodyOf(await api.request('POST', pathOf.service(''), stray));
    await setSpec({ replicas: 0, hasService: false });
    await eventually(
      () => find(pathOf.service()),
      (live) => live === undefined,
    );
    await converged();
    expect(await find(pathOf.service('stray'))).toBeDefined();
    expect(operator.events).toMatchObject([{ reason: 'Pruned' }]);
  });
});

describe('in the way', () => {
  test('a foreign object of the name is not touched; the condition says so; when it goes the child takes its place', async () => {
    const foreign = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { ports: [{ port: 1234 }] } };
    const before = bodyOf(await api.request<KubeObject>('POST', pathOf.service(''), foreign));
    await createToy({ replicas: 0 });
    const toy = await eventually(toyNow, (live) => degraded(live)?.status === 'True');
    expect(degraded(toy)).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('Service web exists already'),
    });
    expect(await find(pathOf.deployment())).toBeDefined();
    expect((await get(pathOf.service())).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    bodyOf(await api.request('DELETE', pathOf.service()));
    await edit(pathOf.toy('web'), { metadata: { annotations: { touched: 'yes' } } });
    await converged();
    expect((await get(pathOf.service())).metadata.ownerReferences).toHaveLength(1);
  });

  test('what the server refuses is a condition; the other children are made', async () => {
    await createToy({ replicas: 0, fault: 'invalid' });
    const toy = await eventually(toyNow, (live) => degraded(live)?.status === 'True');
    expect(degraded(toy)).toMatchObject({
      reason: 'Invalid',
      message: expect.stringMatching(/Deployment web was refused: .*Not A Name/),
    });
    expect(await find(pathOf.service())).toBeDefined();
    await setSpec({ replicas: 0 });
    await converged();
  });

  test('a resource that cannot be rendered says so, and is served again when it can', async () => {
    await createToy({ fault: 'render' });
    const toy = await eventually(toyNow, (live) => degraded(live)?.status === 'True');
    expect(degraded(toy)?.reason).toBe('RenderFailed');
    await setSpec({ replicas: 0 });
    await converged();
    expect(await find(pathOf.deployment())).toBeDefined();
  });

  test('a namespace that goes away is left without a complaint', async () => {
    await createToy({ replicas: 0 });
    await converged();
    bodyOf(await api.request('DELETE', `/api/v1/namespaces/${namespace}`));
    await eventually(
      () => find(`/api/v1/namespaces/${namespace}`),
      (live) => live === undefined,
      30_000,
    );
    expect([...operator.log.at('error'), ...operator.log.at('warn')].map(({ message }) => message)).toEqual([]);
  }, 40_000);
});
