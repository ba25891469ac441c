import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import { Deployment, Service, type OwnedType } from '../../crds/owned.ts';
import { soon } from '../../test/eventually.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { FakeCluster, refusal, type FakeCache } from '../../test/fake-cluster.ts';
import { RecordingLog } from '../../test/recording-log.ts';
import { Toy } from '../../test/toy-kind.ts';
import { ConnectionError } from '../kube/errors.ts';
import type { Observer } from '../metrics/observer.ts';
import { createController, type Controller, type ControllerProps } from './controller.ts';

/** Takes note of all it is told. */
function recordingObserver(heard: string[]): Observer {
  const note =
    (what: string) =>
    (...args: readonly unknown[]): void =>
      void heard.push([what, ...args].join(' '));
  return {
    queueAdded: note('queueAdded'),
    queueDepth: note('queueDepth'),
    queueWaited: note('queueWaited'),
    queueWorked: note('queueWorked'),
    queueRetried: note('queueRetried'),
    reconciled: note('reconciled'),
    reconcileFailed: note('reconcileFailed'),
    activeWorkers: note('activeWorkers'),
    request: note('request'),
    written: note('written'),
    watchEvent: note('watchEvent'),
    watchRestarted: note('watchRestarted'),
  };
}

/** A controller for toys over a fake cluster. */
class World {
  readonly cluster = new FakeCluster();
  readonly clock = new FakeClock();
  readonly log = new RecordingLog();
  readonly heard: string[] = [];
  readonly stop = new AbortController();
  readonly cut = new AbortController();
  readonly primary = this.cluster.cacheOf(Toy);
  readonly children = new Map<OwnedType, FakeCache>([
    [Deployment, this.cluster.cacheOf(Deployment)],
    [Service, this.cluster.cacheOf(Service)],
  ]);
  controller!: Controller;
  running!: Promise<void>;

  constructor() {
    this.cluster.echoes = true;
  }

  start(props: Partial<ControllerProps> = {}): void {
    this.controller = createController({
      kind: Toy,
      primary: this.primary,
      children: this.children,
      client: this.cluster.client,
      fieldManager: 'reprise',
      recorder: { event: () => undefined },
      observer: recordingObserver(this.heard),
      log: this.log,
      clock: this.clock,
      random: () => 0,
      ...props,
    });
    this.running = this.controller.run(this.stop.signal, this.cut.signal);
  }

  toy(name = 'web', generation = 1, spec: object = {}): KubeObject {
    return this.cluster.put(Toy, {
      ...{ apiVersion: '', kind: '' },
      metadata: { name, namespace: 'shop', generation },
      spec: { image: 'nginx:1', hasService: true, ...spec },
    });
  }

  /** Lets everything that can go on without time come to rest. */
  async settle(): Promise<void> {
    let before = -1;
    while (before !== this.cluster.requests.length || this.controller.health().running > 0) {
      before = this.cluster.requests.length;
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      if (this.controller.health().running > 0 && this.isHanging) return;
    }
  }
  isHanging = false;

  /** Requests hang from now on, until they are aborted or let go. */
  hang(): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.isHanging = true;
    this.cluster.meanwhile = () => promise;
    return () => {
      this.isHanging = false;
      this.cluster.meanwhile = () => undefined;
      resolve(undefined);
    };
  }

  async requestsOf(happens: () => void): Promise<string[]> {
    const before = this.cluster.requests.length;
    happens();
    await this.settle();
    return this.cluster.requests.slice(before);
  }

  causes(): unknown[] {
    return this.log.at('info').map(({ fields }) => fields['causes']);
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(async () => {
  world.stop.abort();
  await world.running;
});

describe('beginning', () => {
  test('nothing is done before every cache is full', async () => {
    const services = world.children.get(Service)!;
    services.hasSynced = false;
    world.toy();
    world.start();
    world.clock.advance(60_000);
    await world.settle();
    expect(world.cluster.requests).toEqual([]);
    expect(world.controller.health().hasSynced).toBe(false);
    services.hasSynced = true;
    expect(await world.requestsOf(() => world.clock.advance(10))).toContain('create Service web');
    expect(world.controller.health().hasSynced).toBe(true);
  });

  test('what was in the caches before anybody listened is looked at: a standby takes over with warm caches', async () => {
    world.toy('a');
    world.toy('b');
    world.start();
    await world.settle();
    expect(world.cluster.requests).toEqual(expect.arrayContaining(['create Service a', 'create Service b']));
  });

  test('a start over what is settled makes no request', async () => {
    world.toy();
    world.start();
    await world.settle();
    world.stop.abort();
    await world.running;
    const second = new AbortController();
    world.cluster.requests.length = 0;
    const again = createController({
      ...{ kind: Toy, primary: world.primary, children: world.children, client: world.cluster.client },
      ...{ fieldManager: 'reprise', recorder: { event: () => undefined }, observer: recordingObserver([]) },
      ...{ log: world.log, clock: world.clock, random: () => 0 },
    });
    const running = again.run(second.signal);
    await nextTurn();
    world.clock.advance(120_000);
    await nextTurn();
    second.abort();
    await running;
    expect(world.cluster.requests).toEqual([]);
  });

  test('a type without a cache is told at once', () => {
    expect(() => world.start({ children: new Map() })).toThrow('Toy has no cache of deployments.apps');
    world.running = Promise.resolve();
  });
});

describe('changes', () => {
  beforeEach(async () => {
    world.toy();
    world.start();
    await world.settle();
  });

  test('of the spec are acted on, and the log says why', async () => {
    await world.requestsOf(() => world.toy('web', 2, { image: 'nginx:2' }));
    expect(world.causes().at(-1)).toEqual(['spec changed']);
  });

  test('of a child bring its owner in', async () => {
    const requests = await world.requestsOf(() => world.cluster.drop(Service, 'shop', 'web'));
    expect(requests).toEqual(['create Service web']);
    expect(world.causes().at(-1)).toEqual(['Service deleted']);
  });

  test('of a child that lost its owner reference bring in the owner that it had', async () => {
    const live = world.cluster.read(Service, 'shop', 'web')!;
    const requests = await world.requestsOf(
      () => void world.cluster.put(Service, { ...live, metadata: { ...live.metadata, ownerReferences: [] } }),
    );
    expect(requests).toContain('apply Service web');
  });

  test('of children of other kinds are not ours to look at', async () => {
    const added = world.heard.filter((line) => line.startsWith('queueAdded')).length;
    for (const [kind, apiVersion] of [
      ['Toy', 'other.example.com/v1'],
      ['Other', 'engine.test.example.com/v1'],
    ] as const) {
      const owner = { apiVersion, kind, name: 'web', uid: 'x', controller: true };
      world.cluster.put(Service, {
        ...{ apiVersion: '', kind: '' },
        metadata: { name: `of-${kind.toLowerCase()}`, namespace: 'shop', ownerReferences: [owner] },
      });
    }
    await world.settle();
    expect(world.heard.filter((line) => line.startsWith('queueAdded')).length).toBe(added);
  });

  test('our own writes come back as events and cause no further request', async () => {
    expect(await world.requestsOf(() => world.toy('web', 2, { image: 'nginx:2' }))).toEqual([
      'jsonPatch Deployment web',
      'apply Deployment web',
      'patchStatus Toy web',
    ]);
  });

  test('a resync looks at everything and asks for nothing', async () => {
    const runs = () => world.heard.filter((line) => line.startsWith('reconciled')).length;
    const before = runs();
    expect(await world.requestsOf(() => world.clock.advance(30_000))).toEqual([]);
    expect(await world.requestsOf(() => world.clock.advance(30_000))).toEqual([]);
    expect(runs()).toBe(before + 2);
    expect(world.causes().flat()).not.toContain('resync');
  });

  test('enqueue asks for a run', async () => {
    const before = world.heard.length;
    world.controller.enqueue('shop', 'web', 'asked');
    await world.settle();
    expect(world.heard.slice(before)).toContain('reconciled toy success 0');
  });
});

describe('failures', () => {
  test('are retried with backoff until they pass', async () => {
    world.cluster.echoes = false;
    world.cluster.refuse('create', Deployment, refusal(500, 'InternalError', 'x', 'web'), 2);
    world.start();
    await world.requestsOf(() => world.toy());
    expect(world.cluster.read(Deployment, 'shop', 'web')).toBeUndefined();
    expect(await world.requestsOf(() => world.clock.advance(99))).toEqual([]);
    expect(await world.requestsOf(() => world.clock.advance(1))).toEqual(['create Deployment web']);
    expect(await world.requestsOf(() => world.clock.advance(199))).toEqual([]);
    expect(await world.requestsOf(() => world.clock.advance(1))).toEqual([
      'create Deployment web',
      'patchStatus Toy web',
    ]);
  });

  test('a server that is away for a minute is asked now and then, and within 10 s of its return all is done', async () => {
    world.cluster.refuse('create', Deployment, new ConnectionError('refused', 'ECONNREFUSED'), Infinity);
    world.start();
    await world.requestsOf(() => world.toy());
    for (let second = 0; second < 60; second += 1) await world.requestsOf(() => world.clock.advance(1000));
    expect(world.cluster.requests.length).toBeLessThan(20);
    world.cluster.relent();
    await world.requestsOf(() => world.clock.advance(10_000));
    expect(world.cluster.requests.slice(-3)).toEqual([
      'create Deployment web',
      'create Service web',
      'patchStatus Toy web',
    ]);
  });
});

describe('working', () => {
  test('as many resources at a time as allowed, and never one twice', async () => {
    for (const name of ['a', 'b', 'c']) world.toy(name);
    const letGo = world.hang();
    world.start({ maxConcurrentReconciles: 2 });
    await world.settle();
    expect(world.controller.health()).toMatchObject({ running: 2, waiting: 1 });
    world.toy('a', 2);
    await world.settle();
    expect(world.cluster.requests).toEqual(['create Deployment a', 'create Deployment b']);
    letGo();
    await world.settle();
    expect(world.controller.health()).toMatchObject({ running: 0, waiting: 0 });
  });

  test('a worker that does not listen to its time limit shows in health', async () => {
    const letGo = world.hang();
    world.toy();
    world.start();
    await world.settle();
    world.clock.advance(40_000);
    expect(world.controller.health().stuck).toEqual([]);
    world.clock.advance(1);
    expect(world.controller.health().stuck).toEqual(['shop/web']);
    letGo();
    await world.settle();
    expect(world.controller.health().stuck).toEqual([]);
  });

  test('thousands of runs without a request let others have their turn', async () => {
    const { stop } = world;
    for (let index = 0; index < 3000; index += 1) world.toy(`toy-${index}`);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (!stop.signal.aborted) setImmediate(count);
    };
    world.start({
      kind: {
        ...Toy,
        children: () => undefined,
        observe: () => {
          throw new Error('x');
        },
      },
    });
    setImmediate(count);
    await soon(() => world.heard.filter((line) => line.startsWith('reconciled')).length >= 3000);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('the end', () => {
  test('what is in flight is finished, what waits is left', async () => {
    world.toy('a');
    world.toy('b');
    const letGo = world.hang();
    world.start({ maxConcurrentReconciles: 1 });
    await world.settle();
    world.stop.abort();
    let isOver = false;
    void world.running.then(() => (isOver = true));
    await nextTurn();
    expect(isOver).toBe(false);
    letGo();
    await world.running;
    expect(world.cluster.requests).toEqual(['create Deployment a', 'create Service a', 'patchStatus Toy a']);
  });

  test('nothing is left behind: no timer, no listener', async () => {
    world.toy();
    world.start();
    await world.settle();
    world.stop.abort();
    await world.running;
    expect(world.clock.waits).toEqual([]);
    expect([world.primary, ...world.children.values()].map(({ listeners }) => listeners)).toEqual([0, 0, 0]);
  });

  test('cutting off ends what is in flight at its next step', async () => {
    world.toy();
    const letGo = world.hang();
    world.start();
    await world.settle();
    world.stop.abort();
    world.cut.abort();
    world.cluster.refuse('create', Deployment, new DOMException('aborted', 'AbortError'));
    letGo();
    await world.running;
    expect(world.cluster.requests).toEqual(['create Deployment web']);
    expect(world.log.at('error')).toEqual([]);
  });

  test('a controller that is stopped before its caches are full ends at once', async () => {
    world.primary.hasSynced = false;
    world.start();
    world.stop.abort();
    await world.running;
    expect(world.cluster.requests).toEqual([]);
  });
});
