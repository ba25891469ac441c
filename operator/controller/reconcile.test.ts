import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import type { Kind } from '../../crds/kind.ts';
import { Deployment, Service, type OwnedType } from '../../crds/owned.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { FakeCluster, refusal, type FakeCache } from '../../test/fake-cluster.ts';
import { RecordingLog } from '../../test/recording-log.ts';
import { Toy, type ToyResource } from '../../test/toy-kind.ts';
import type { EventInput } from '../events/recorder.ts';
import { ApiError, ConnectionError } from '../kube/errors.ts';
import { Memory } from './memory.ts';
import { ChildCaches } from './observed.ts';
import { Superseded, Terminal, type Outcome } from './outcome.ts';
import { reconcile } from './reconcile.ts';
import { Renderer } from './renderer.ts';

/** A cluster with a toy in it, and the loop body over it. */
class World {
  readonly cluster = new FakeCluster();
  readonly clock = new FakeClock();
  readonly log = new RecordingLog();
  readonly events: EventInput[] = [];
  readonly written: string[] = [];
  readonly abort = new AbortController();
  readonly primary = this.cluster.cacheOf(Toy);
  readonly #isLabelled = (object: KubeObject): boolean =>
    object.metadata.labels?.['app.kubernetes.io/managed-by'] === 'reprise';
  readonly deployments = this.cluster.cacheOf(Deployment, this.#isLabelled);
  readonly services = this.cluster.cacheOf(Service, this.#isLabelled);
  memory = new Memory();
  kind: Kind = Toy;
  failures = 0;

  /** Somebody writes the spec. */
  toy(spec: Partial<ToyResource['spec']> = {}, metadata: object = {}): ToyResource {
    const before = this.primary.get('shop', 'web') as ToyResource | undefined;
    const generation = (before?.metadata.generation ?? 0) + 1;
    return this.cluster.put(Toy, {
      ...{ apiVersion: '', kind: '' },
      metadata: { name: 'web', namespace: 'shop', generation, ...metadata },
      spec: { image: 'nginx:1', hasService: true, ...spec },
      ...(before?.status && { status: before.status }),
    }) as ToyResource;
  }

  run(): Promise<Outcome> {
    const parts = {
      kind: this.kind,
      name: 'toy',
      primary: this.primary,
      children: new ChildCaches(
        Toy,
        new Map<OwnedType, FakeCache>([
          [Deployment, this.deployments],
          [Service, this.services],
        ]),
      ),
      client: this.cluster.client,
      fieldManager: 'reprise',
      recorder: { event: (_regarding: KubeObject, input: EventInput) => void this.events.push(input) },
      observer: { written: (_name: string, verb: string) => void this.written.push(verb) },
      clock: this.clock,
      random: () => 0,
      renderer: new Renderer(this.kind),
      memory: this.memory,
      log: this.log,
      failures: this.failures,
    };
    return reconcile('shop/web', parts, this.abort.signal);
  }

  /** The requests of one run. */
  async requestsOf(run: () => Promise<unknown> = () => this.run()): Promise<string[]> {
    const before = this.cluster.requests.length;
    await run();
    return this.cluster.requests.slice(before);
  }

  /** As a new process: nothing remembered. */
  restart(): void {
    this.memory = new Memory();
  }

  read(type: typeof Deployment | typeof Service | typeof Toy, name = 'web') {
    return this.cluster.read(type, 'shop', name);
  }

  get conditions(): Record<string, { status: string; reason: string; message: string }> {
    const status = this.read(Toy)?.['status'] as ToyResource['status'];
    return Object.fromEntries((status?.conditions ?? []).map((condition) => [condition.type, condition]));
  }

  /** Somebody changes a stored child. */
  edit(type: typeof Deployment | typeof Service, change: (object: KubeObject) => KubeObject): KubeObject {
    return this.cluster.put(type, change(this.read(type)!));
  }
}

const failure = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
};

let world: World;
beforeEach(() => {
  world = new World();
});

/** What somebody else made under a name that we want. */
const foreignService = (metadata: object = {}): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { name: 'web', namespace: 'shop', ...metadata },
  spec: { theirs: true },
});

describe('a new resource', () => {
  test('gets its children by POST and one status', async () => {
    world.toy();
    expect(await world.requestsOf()).toEqual(['create Deployment web', 'create Service web', 'patchStatus Toy web']);
    expect(world.written).toEqual(['create', 'create', 'status']);
    expect(world.read(Deployment)?.metadata).toMatchObject({
      ownerReferences: [{ uid: world.read(Toy)?.metadata.uid, controller: true }],
      labels: { 'app.kubernetes.io/managed-by': 'reprise' },
    });
    expect(world.read(Toy)?.['status']).toMatchObject({ deployments: 1, readyReplicas: 0, observedGeneration: 1 });
    expect(world.conditions).toMatchObject({ Available: { status: 'False' }, Degraded: { status: 'False' } });
  });

  test('the second look makes no request, also after a restart and with events of our own writes', async () => {
    world.cluster.echoes = true;
    world.toy();
    await world.run();
    expect(await world.requestsOf()).toEqual([]);
    world.restart();
    expect(await world.requestsOf()).toEqual([]);
    expect(await world.requestsOf()).toEqual([]);
  });

  test('says at info what it did, and then nothing more', async () => {
    world.toy();
    await world.run();
    expect(world.log.at('info')).toMatchObject([
      {
        message: 'reconciled',
        fields: { created: ['Deployment web', 'Service web'], applied: [], pruned: [], status: true },
      },
    ]);
    await world.run();
    world.restart();
    await world.run();
    expect(world.log.at('info').length).toBe(1);
    expect(world.events).toEqual([]);
  });

  test('what is there and settled is not even rendered again', async () => {
    world.toy();
    await world.run();
    await world.run();
    let renders = 0;
    world.kind = { ...Toy, children: () => void (renders += 1) };
    expect(await world.run()).toEqual({ then: 'done' });
    expect(renders).toBe(0);
  });

  test('a resource that is gone or goes is left to the garbage collector, and forgotten', async () => {
    world.toy();
    await world.run();
    world.toy({ image: 'nginx:2' }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(await world.requestsOf()).toEqual([]);
    expect(world.memory.size).toBe(0);
    world.cluster.drop(Toy, 'shop', 'web');
    expect(await world.run()).toEqual({ then: 'done' });
  });
});

describe('a change of the spec', () => {
  test('is applied to the child that it touches, first renaming the entry that POST left in managedFields', async () => {
    world.toy();
    await world.run();
    const { uid, resourceVersion } = world.read(Deployment)!.metadata;
    world.toy({ image: 'nginx:2' });
    expect(await world.requestsOf()).toEqual([
      'jsonPatch Deployment web',
      'apply Deployment web',
      'patchStatus Toy web',
    ]);
    expect(world.cluster.bodies.at(-3)).toEqual([
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'test', path: '/metadata/managedFields/0/manager', value: 'reprise' },
      { op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Apply' },
    ]);
    expect(world.cluster.bodies.at(-2)).toMatchObject({ metadata: { uid } });
    expect(world.read(Deployment)).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'nginx:2' }] } } },
    });
    expect(await world.requestsOf()).toEqual([]);
    expect(world.events).toEqual([]);
  });

  test('that only takes something away is applied too', async () => {
    world.toy({ env: { A: '1', B: '2' }, replicas: 1 });
    await world.run();
    world.toy({ env: { A: '1' }, replicas: 1 });
    expect(await world.requestsOf()).toContain('apply Deployment web');
    world.toy({ env: { A: '1' } });
    expect(await world.requestsOf()).toContain('apply Deployment web');
    expect(world.cluster.bodies.at(-2)).not.toHaveProperty('spec.replicas');
  });

  test('the next one needs no renaming any more', async () => {
    world.toy();
    await world.run();
    world.toy({ image: 'nginx:2' });
    await world.run();
    world.toy({ image: 'nginx:3' });
    expect(await world.requestsOf()).toEqual(['apply Deployment web', 'patchStatus Toy web']);
  });

  test('renaming at the same moment as another writer is tried again, quietly', async () => {
    world.toy();
    await world.run();
    world.toy({ image: 'nginx:2' });
    world.deployments.hold();
    world.edit(Deployment, (live) => ({
      ...live,
      metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, x: 'y' } },
    }));
    expect(await failure(world.run())).toBeInstanceOf(Superseded);
    expect(world.read(Deployment)).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'nginx:1' }] } } },
    });
    world.deployments.release();
    await world.run();
    expect(world.read(Deployment)).toMatchObject({
      metadata: { annotations: { x: 'y' } },
      spec: { template: { spec: { containers: [{ image: 'nginx:2' }] } } },
    });
  });

  test('a change of labels alone is a status of the new generation and nothing else', async () => {
    world.toy();
    await world.run();
    world.toy({}, { labels: { team: 'blue' } });
    expect(await world.requestsOf()).toEqual(['patchStatus Toy web']);
  });

  test('a child that was replaced under its name meanwhile is not written to', async () => {
    world.toy();
    await world.run();
    world.toy({ image: 'nginx:2' });
    world.deployments.hold();
    world.cluster.drop(Deployment, 'shop', 'web');
    world.cluster.put(Deployment, {
      ...{ apiVersion: '', kind: '' },
      metadata: { name: 'web', namespace: 'shop' },
      spec: { theirs: 1 },
    });
    expect(await failure(world.run())).toBeInstanceOf(Superseded);
    expect(world.read(Deployment)?.['spec']).toEqual({ theirs: 1 });
  });
});

describe('what is no longer desired', () => {
  test('is deleted by its UID, with an event', async () => {
    world.toy();
    await world.run();
    const { uid } = world.read(Service)!.metadata;
    world.toy({ hasService: false });
    expect(await world.requestsOf()).toEqual(['delete Service web', 'patchStatus Toy web']);
    expect(world.cluster.bodies.at(-2)).toEqual({ uid, propagationPolicy: 'Background' });
    expect(world.read(Service)).toBeUndefined();
    expect(world.events).toMatchObject([
      { type: 'Normal', reason: 'Pruned', note: expect.stringContaining('Service web') },
    ]);
    expect(await world.requestsOf()).toEqual([]);
  });

  test('stays as long as something that is desired could not be made', async () => {
    world.toy();
    await world.run();
    world.toy({ serviceName: 'other' });
    world.cluster.put(Service, foreignService({ name: 'other' }));
    await world.run();
    expect(world.read(Service)).toBeDefined();
    world.cluster.drop(Service, 'shop', 'other');
    world.clock.advance(31_000);
    await world.run();
    expect(world.read(Service, 'other')?.metadata.ownerReferences).toHaveLength(1);
    expect(world.read(Service)).toBeUndefined();
  });

  test('an object of others with our label is not ours to delete', async () => {
    world.toy();
    world.cluster.put(
      Service,
      foreignService({ name: 'stray', labels: { 'app.kubernetes.io/managed-by': 'reprise' } }),
    );
    await world.run();
    await world.run();
    expect(world.read(Service, 'stray')?.['spec']).toEqual({ theirs: true });
  });

  test('what is being deleted already is not deleted again', async () => {
    world.toy();
    await world.run();
    world.toy({ hasService: false });
    world.edit(Service, (live) => ({
      ...live,
      metadata: { ...live.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    expect(await world.requestsOf()).toEqual(['patchStatus Toy web']);
  });
});

describe('drift', () => {
  const scaled = (replicas: number) => (live: KubeObject) => ({
    ...live,
    spec: { ...(live['spec'] as object), replicas },
  });

  test('in a field that we say is repaired and told, by its path and without its value', async () => {
    world.toy({ replicas: 2 });
    await world.run();
    world.edit(Deployment, scaled(7));
    expect(await world.requestsOf()).toEqual(['jsonPatch Deployment web', 'apply Deployment web']);
    expect(world.read(Deployment)?.['spec']).toMatchObject({ replicas: 2 });
    expect(world.events).toEqual([
      {
        ...{ type: 'Normal', reason: 'DriftRepaired', action: 'Apply' },
        note: 'Deployment web was changed by others and is as desired again: spec.replicas',
      },
    ]);
  });

  test('in a field that we do not say is left alone, without a request', async () => {
    world.toy();
    await world.run();
    world.edit(Deployment, scaled(7));
    expect(await world.requestsOf()).toEqual([]);
    expect(world.read(Deployment)?.['spec']).toMatchObject({ replicas: 7 });
  });

  test('against somebody who insists is repaired ever more rarely, and soon after they stop at once again', async () => {
    world.toy({ replicas: 2 });
    await world.run();
    const repairs: number[] = [];
    for (let second = 0; second < 60; second += 1) {
      world.edit(Deployment, scaled(7));
      const requests = await world.requestsOf();
      if (requests.includes('apply Deployment web')) repairs.push(second);
      world.clock.advance(1000);
    }
    expect(repairs).toEqual([0, 1, 2, 3, 5, 9, 17, 33]);
    world.clock.advance(5 * 60_000);
    for (const _ of [1, 2]) {
      world.edit(Deployment, scaled(7));
      expect(await world.requestsOf()).toContain('apply Deployment web');
      world.clock.advance(1000);
    }
  });

  test('that may not be repaired yet brings the key back when it may', async () => {
    world.toy({ replicas: 2 });
    await world.run();
    for (const _ of [1, 2]) {
      world.edit(Deployment, scaled(7));
      await world.run();
    }
    world.edit(Deployment, scaled(7));
    expect(await world.run()).toEqual({ then: 'requeueAfter', delayMs: 500 });
    world.clock.advance(500);
    expect(await world.requestsOf()).toEqual(['apply Deployment web']);
  });

  test('a value that the server makes otherwise is written once, not for ever', async () => {
    world.toy({ replicas: 2 });
    await world.run();
    // A webhook that insists on 3: the answer to our apply says so.
    const { client } = world.cluster;
    const apply = client.apply.bind(client);
    Object.assign(client, {
      apply: async (...args: Parameters<typeof apply>) => {
        await apply(...args);
        return world.edit(Deployment, scaled(3));
      },
    });
    world.edit(Deployment, scaled(9));
    expect(await world.requestsOf()).toEqual(['jsonPatch Deployment web', 'apply Deployment web']);
    world.clock.advance(600_000);
    expect(await world.requestsOf()).toEqual([]);
    world.edit(Deployment, scaled(9));
    expect(await world.requestsOf()).toEqual(['apply Deployment web']);
  });

  test('a child that was deleted by others is created again', async () => {
    world.toy();
    await world.run();
    world.cluster.drop(Service, 'shop', 'web');
    expect(await world.requestsOf()).toEqual(['create Service web']);
  });

  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' };

  test('a child that is being deleted is waited for, then created again', async () => {
    world.toy();
    await world.run();
    world.edit(Service, (live) => ({ ...live, metadata: { ...live.metadata, ...ending }, spec: {} }));
    expect(await world.requestsOf()).toEqual([]);
    world.cluster.drop(Service, 'shop', 'web');
    expect(await world.requestsOf()).toEqual(['create Service web']);
  });

  test('one that lost our label and is being deleted is asked for again: no event will tell of its end', async () => {
    world.toy();
    await world.run();
    world.edit(Service, (live) => ({ ...live, metadata: { ...live.metadata, ...ending, labels: {} } }));
    expect(await failure(world.run())).toBeInstanceOf(Superseded);
    world.cluster.drop(Service, 'shop', 'web');
    expect(await world.requestsOf()).toContain('create Service web');
  });

  test('a status that others wrote over is written again', async () => {
    world.toy();
    await world.run();
    const before = world.read(Toy)!;
    world.cluster.put(Toy, { ...before, status: { deployments: 99, message: 'theirs', conditions: [] } });
    expect(await world.requestsOf()).toEqual(['patchStatus Toy web']);
    expect(world.cluster.bodies.at(-1)).toMatchObject({
      status: { deployments: 1, message: null, observedGeneration: 1 },
    });
    expect(await world.requestsOf()).toEqual([]);
  });
});

describe('the name is taken', () => {
  test('a foreign object is left as it is; the other children are made; condition and event say Conflict', async () => {
    world.toy();
    const foreign = world.cluster.put(Service, foreignService());
    expect(await world.run()).toEqual({ then: 'requeueAfter', delayMs: 30_000 });
    expect(world.read(Service)).toEqual(foreign);
    expect(world.read(Deployment)).toBeDefined();
    expect(world.conditions['Degraded']).toMatchObject({
      status: 'True',
      reason: 'Conflict',
      message:
        'Service web exists already, with no controller: it is left as it is; delete or rename it, or rename this resource',
    });
    expect(world.events).toMatchObject([
      { type: 'Warning', reason: 'Conflict', note: world.conditions['Degraded']?.message },
    ]);
  });

  test('it is asked for again after 30 s, 60 s, … and at most every 5 min, whatever else happens', async () => {
    world.toy();
    world.cluster.put(Service, foreignService());
    await world.run();
    const tries: number[] = [];
    for (let second = 1; second <= 1200; second += 1) {
      world.clock.advance(1000);
      if (second % 5 === 0) world.edit(Deployment, (live) => ({ ...live, status: { readyReplicas: second % 2 } }));
      if ((await world.requestsOf()).includes('create Service web')) tries.push(second);
    }
    expect(tries).toEqual([30, 90, 210, 450, 750, 1050]);
    expect(world.events.length).toBe(1);
  });

  test('when it is gone the child is made and the condition taken back', async () => {
    world.toy();
    world.cluster.put(Service, foreignService());
    await world.run();
    world.cluster.drop(Service, 'shop', 'web');
    world.clock.advance(30_000);
    expect(await world.requestsOf()).toEqual(['create Service web', 'patchStatus Toy web']);
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False' });
  });

  test('whoever touches the resource need not wait', async () => {
    world.toy();
    world.cluster.put(Service, foreignService());
    await world.run();
    world.cluster.drop(Service, 'shop', 'web');
    world.toy({}, { annotations: { retry: 'now' } });
    expect(await world.requestsOf()).toContain('create Service web');
  });

  test('a foreign object in the cache costs no request at all, and is named with its controller', async () => {
    world.toy();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Gateway', name: 'edge', uid: 'other', controller: true }];
    const labels = { 'app.kubernetes.io/managed-by': 'reprise' };
    const foreign = world.cluster.put(Service, foreignService({ ownerReferences, labels }));
    expect(await world.requestsOf()).toEqual(['create Deployment web', 'patchStatus Toy web']);
    expect(world.read(Service)).toEqual(foreign);
    expect(world.conditions['Degraded']?.message).toContain('the controller Gateway edge');
  });

  test('what a foreign object says is not taken for our status', async () => {
    world.toy();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'other', controller: true }];
    const labels = { 'app.kubernetes.io/managed-by': 'reprise' };
    const metadata = { name: 'web', namespace: 'shop', ownerReferences, labels };
    world.cluster.put(Deployment, { ...foreignService(), metadata, status: { readyReplicas: 5 } });
    await world.run();
    expect(world.read(Toy)?.['status']).toMatchObject({ readyReplicas: 0, deployments: 0 });
  });

  test('children of an earlier resource of the same name are waited for, untouched and without complaint', async () => {
    world.toy();
    await world.run();
    const earlier = [world.read(Deployment), world.read(Service)];
    world.cluster.drop(Toy, 'shop', 'web');
    world.toy();
    expect(await world.requestsOf()).toEqual(['patchStatus Toy web']);
    expect([world.read(Deployment), world.read(Service)]).toEqual(earlier);
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False', reason: 'AsExpected' });
    expect(world.events).toEqual([]);
  });

  test('children of an earlier resource are followed by our own within half a second of their end', async () => {
    world.toy();
    await world.run();
    world.cluster.drop(Toy, 'shop', 'web');
    world.toy();
    await world.run();
    world.cluster.drop(Deployment, 'shop', 'web');
    world.cluster.drop(Service, 'shop', 'web');
    world.clock.advance(500);
    const requests = await world.requestsOf();
    expect(requests).toContain('create Deployment web');
    expect(requests).toContain('create Service web');
  });

  test('our own child that lost its label is found and gets it back', async () => {
    world.toy();
    await world.run();
    world.edit(Service, (live) => ({ ...live, metadata: { ...live.metadata, labels: {} } }));
    expect(world.services.get('shop', 'web')).toBeUndefined();
    expect(await world.requestsOf()).toEqual([
      'create Service web',
      'get Service web',
      'jsonPatch Service web',
      'apply Service web',
    ]);
    expect(world.services.get('shop', 'web')?.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'reprise' });
    expect(await world.requestsOf()).toEqual([]);
  });

  test('our own child that lost its owner reference is ours all the same and gets it back', async () => {
    world.toy();
    await world.run();
    world.edit(Service, (live) => ({ ...live, metadata: { ...live.metadata, ownerReferences: [] } }));
    expect(await world.requestsOf()).toEqual(['jsonPatch Service web', 'apply Service web']);
    expect(world.read(Service)?.metadata.ownerReferences).toMatchObject([{ name: 'web', controller: true }]);
  });

  test('a create whose answer was lost is recognized and not made twice', async () => {
    world.toy();
    world.services.hold();
    world.cluster.refuse('create', Service, new ConnectionError('reset', 'ECONNRESET'));
    world.cluster.meanwhile = async (request) => {
      if (request !== 'create Service web') return;
      world.cluster.meanwhile = () => undefined;
      await world.cluster.client.create(
        Service,
        { ...(world.cluster.bodies.at(-1) as KubeObject) },
        world.abort.signal,
      );
    };
    // The second create is the one that the server has carried out; ours is told that the connection broke.
    await failure(world.run());
    world.services.hold();
    expect(await world.requestsOf()).toEqual(expect.arrayContaining(['create Service web']));
    expect(world.read(Service)?.metadata.ownerReferences).toHaveLength(1);
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False' });
  });
});

describe('rendering fails', () => {
  test('the condition says why, an event too; children stay; nobody tries again', async () => {
    world.toy();
    await world.run();
    world.toy({ fault: 'render', image: 'nginx:2' });
    const error = await failure(world.run());
    expect(error).toBeInstanceOf(Terminal);
    expect(error).toMatchObject({ reason: 'RenderFailed' });
    expect(world.conditions['Degraded']).toMatchObject({
      status: 'True',
      reason: 'RenderFailed',
      message: 'rendering the children failed: the spec asks for a fault',
    });
    expect(world.read(Toy)?.['status']).toMatchObject({ observedGeneration: 2, deployments: 1 });
    expect(world.events).toMatchObject([{ type: 'Warning', reason: 'RenderFailed', action: 'Render' }]);
    expect(world.read(Deployment)).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'nginx:1' }] } } },
    });
  });

  test('later looks cost nothing and say nothing again, also after a restart', async () => {
    world.toy({ fault: 'render' });
    await failure(world.run());
    expect(await world.requestsOf(() => failure(world.run()))).toEqual([]);
    expect(await world.requestsOf()).toEqual([]);
    world.restart();
    expect(await world.requestsOf(() => failure(world.run()))).toEqual([]);
    expect(world.events.length).toBe(1);
    expect(world.log.at('warn').length).toBe(1);
  });

  test('a spec that can be rendered again recovers', async () => {
    world.toy({ fault: 'render' });
    await failure(world.run());
    world.toy();
    expect(await world.run()).toEqual({ then: 'done' });
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False' });
  });

  test('a message of pages is cut', async () => {
    world.toy();
    world.kind = {
      ...Toy,
      children: () => {
        throw new Error('x'.repeat(100_000));
      },
    };
    await failure(world.run());
    expect(world.conditions['Degraded']?.message.length).toBe(1024);
  });

  test('observing that throws is a condition too, and the children are made all the same', async () => {
    world.toy({ fault: 'observe' });
    expect(await failure(world.run())).toBeInstanceOf(Terminal);
    expect(world.read(Deployment)).toBeDefined();
    expect(world.conditions['Degraded']).toMatchObject({ status: 'True', reason: 'ObserveFailed' });
  });
});

describe('the server refuses', () => {
  const invalid = refusal(422, 'Invalid', 'Deployment.apps "web" is invalid: spec.selector: field is immutable', 'web');
  const forbidden = refusal(403, 'Forbidden', 'exceeded quota: pods', 'web');

  test.each([
    ['Invalid', invalid],
    ['Forbidden', forbidden],
    ['Invalid', refusal(400, 'BadRequest', 'cannot unmarshal', 'web')],
    ['Invalid', refusal(413, 'RequestEntityTooLarge', 'too large')],
  ])('%s is a condition, and the other children are made', async (reason, error) => {
    world.toy();
    world.cluster.refuse('create', Deployment, error);
    expect(await world.run()).toEqual({ then: 'requeueAfter', delayMs: 30_000 });
    expect(world.conditions['Degraded']).toMatchObject({
      reason,
      status: 'True',
      message: `Deployment web was refused: ${error.message}`,
    });
    expect(world.read(Service)).toBeDefined();
    expect(world.events).toMatchObject([{ type: 'Warning', reason }]);
    world.clock.advance(30_000);
    expect(await world.requestsOf()).toEqual(['create Deployment web', 'patchStatus Toy web']);
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False' });
  });

  test('two refusals are told together', async () => {
    world.toy();
    world.cluster.refuse('create', Deployment, invalid);
    world.cluster.put(Service, foreignService());
    await world.run();
    expect(world.conditions['Degraded']?.message).toMatch(/Deployment web was refused.*; Service web exists already/);
  });

  test('a namespace that goes away is no problem of anybody', async () => {
    world.toy();
    const details = { name: 'web', causes: [{ reason: 'NamespaceTerminating' }] };
    const ending = new ApiError({ status: 403, reason: 'Forbidden', message: 'is being terminated', details });
    world.cluster.refuse('create', Deployment, ending);
    world.cluster.refuse('create', Service, refusal(404, 'NotFound', 'namespaces "shop" not found', 'shop'));
    expect(await world.run()).toEqual({ then: 'requeueAfter', delayMs: 30_000 });
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False' });
    expect(world.events).toEqual([]);
  });
});

describe('the server fails', () => {
  const broken = refusal(500, 'InternalError', 'range is full', 'web');

  test('for one child: the others are made, status is written, the failure is thrown', async () => {
    world.toy();
    world.cluster.refuse('create', Deployment, broken);
    expect(await failure(world.run())).toBe(broken);
    expect(world.read(Service)).toBeDefined();
    expect(world.read(Toy)?.['status']).toMatchObject({ observedGeneration: 1 });
    expect(world.conditions['Degraded']).toMatchObject({ status: 'False' });
  });

  test('a failure that lasts becomes a condition', async () => {
    world.toy();
    world.failures = 5;
    world.cluster.refuse('create', Deployment, broken);
    await failure(world.run());
    expect(world.conditions['Degraded']).toMatchObject({
      ...{ status: 'True', reason: 'InternalError', message: 'Deployment web: range is full' },
    });
  });

  test.each([
    ['cannot be reached', new ConnectionError('connect ECONNREFUSED', 'ECONNREFUSED')],
    ['asks for quiet', refusal(429, 'TooManyRequests', 'slow down')],
    ['is not ready', refusal(503, 'ServiceUnavailable', 'not yet')],
    ['does not know us', refusal(401, 'Unauthorized', 'who are you')],
  ])('that %s is asked nothing more in this run', async (_what, error) => {
    world.toy();
    world.cluster.refuse('create', Deployment, error);
    expect(await world.requestsOf(async () => expect(await failure(world.run())).toBe(error))).toEqual([
      'create Deployment web',
    ]);
    expect(await world.requestsOf()).toEqual(['create Deployment web', 'create Service web', 'patchStatus Toy web']);
  });

  test('a run that is cut off asks nothing more', async () => {
    world.toy();
    world.cluster.refuse('create', Deployment, new DOMException('aborted', 'AbortError'));
    world.cluster.meanwhile = () => world.abort.abort();
    expect(await world.requestsOf(() => failure(world.run()))).toEqual(['create Deployment web']);
  });
});

describe('meanwhile', () => {
  test('the resource changes: the status of what was judged is refused and judged anew, quietly', async () => {
    world.toy();
    world.cluster.meanwhile = (request) => {
      if (request === 'create Service web') world.toy({ image: 'nginx:2' });
    };
    expect(await failure(world.run())).toBeInstanceOf(Superseded);
    world.cluster.meanwhile = () => undefined;
    expect(await world.run()).toEqual({ then: 'done' });
    expect(world.read(Toy)?.['status']).toMatchObject({ observedGeneration: 2 });
    expect(world.read(Deployment)).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'nginx:2' }] } } },
    });
  });

  test('the resource is deleted: the status goes nowhere, quietly', async () => {
    world.toy();
    world.cluster.meanwhile = (request) => {
      if (request === 'patchStatus Toy web') world.cluster.drop(Toy, 'shop', 'web');
    };
    expect(await failure(world.run())).toBeInstanceOf(Superseded);
    expect(await world.run()).toEqual({ then: 'done' });
  });

  test('a child changes while the run looks elsewhere: the run after it does not take it for settled', async () => {
    world.toy({ replicas: 2 });
    await world.run();
    await world.run();
    world.toy({ replicas: 2, args: ['-v'] });
    world.cluster.meanwhile = (request) => {
      if (request !== 'patchStatus Toy web') return;
      world.cluster.meanwhile = () => undefined;
      world.edit(Deployment, (live) => ({ ...live, spec: { ...(live['spec'] as object), replicas: 9 } }));
    };
    await world.run();
    expect(await world.requestsOf()).toContain('apply Deployment web');
  });
});

test('a status of which the server drops a part is written once, not for ever', async () => {
  const { client } = world.cluster;
  const patchStatus = client.patchStatus.bind(client);
  Object.assign(client, {
    patchStatus: async (...args: Parameters<typeof patchStatus>) => {
      await patchStatus(...args);
      const stored = world.read(Toy)!;
      const { pruned: _, ...status } = stored['status'] as Record<string, unknown>;
      return world.cluster.put(Toy, { ...stored, status });
    },
  });
  world.kind = {
    ...Toy,
    observe: (resource, observed) => ({ ...Toy.observe(resource, observed), pruned: 'not in the schema' }),
  };
  world.toy();
  await world.run();
  world.clock.advance(60_000);
  expect(await world.requestsOf()).toEqual([]);
  expect(await world.requestsOf()).toEqual([]);
});
