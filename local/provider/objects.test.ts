import { describe, expect, test } from '@jest/globals';
import type { ResourceType } from '../../charts/resource.ts';
import type { Clock } from '../../operator/clock.ts';
import { ApiError } from '../../operator/kube/errors.ts';
import type { ApplyOptions } from './api.ts';
import { textAt } from './json.ts';
import type { JsonObject } from './json.ts';
import { Objects } from './objects.ts';
import type { Call, ObjectsProps } from './objects.ts';
import { NotReady } from './protocol.ts';

const configMap: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
};
const urn = 'urn:pulumi:test::reprise::kubernetes:core/v1:ConfigMap::settings';
const ourManager = /^pulumi-kubernetes-[0-9a-f]{8}$/;
const inputs: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop' } };

/** Time passes as soon as somebody waits for it. */
class HastyClock implements Clock {
  #now = 0;
  readonly waits: number[] = [];
  now(): number {
    return this.#now;
  }
  after(delayMs: number, callback: () => void): () => void {
    this.waits.push(delayMs);
    this.#now += delayMs;
    setImmediate(callback);
    return () => undefined;
  }
}

/** A cluster of one object. `onGet` is what the successive reads find. */
class OneObject {
  live: JsonObject | undefined;
  served: ResourceType | undefined = configMap;
  refuse: ApiError | undefined;
  readonly applied: ApplyOptions[] = [];
  readonly deleted: string[] = [];
  onGet: () => void = () => undefined;

  readonly api: ObjectsProps['api'] = {
    typeOf: () => {
      this.onGet();
      return Promise.resolve(this.served);
    },
    get: () => {
      this.onGet();
      return Promise.resolve(this.live);
    },
    apply: (_type, object, options) => {
      if (this.refuse !== undefined) return Promise.reject(this.refuse);
      this.applied.push(options);
      const made = { ...object, metadata: { ...(object['metadata'] as JsonObject), uid: 'new' } };
      if (!options.dryRun) this.live ??= made;
      return Promise.resolve(made);
    },
    delete: (_type, _object, uid) => {
      this.deleted.push(uid);
      return Promise.resolve();
    },
  };
}

const liveOf = (manager: string, metadata: JsonObject = {}): JsonObject => ({
  ...inputs,
  metadata: {
    ...(inputs['metadata'] as JsonObject),
    uid: 'old',
    creationTimestamp: '2026-01-02T03:04:05Z',
    managedFields: [{ manager, operation: 'Update' }],
    ...metadata,
  },
});

function setUp(force = false) {
  const cluster = new OneObject();
  const clock = new HastyClock();
  const statuses: string[] = [];
  const abort = new AbortController();
  const call: Call = {
    urn,
    inputs,
    timeoutMs: undefined,
    signal: abort.signal,
    report: (status) => statuses.push(status),
  };
  return { cluster, clock, statuses, abort, call, objects: new Objects({ api: cluster.api, clock, force }) };
}

const refusal = (status: number, reason: string, message: string): ApiError =>
  new ApiError({ status, reason, message });

describe('create', () => {
  test('applies under a manager of its own, without force, and keeps the identity', async () => {
    const { cluster, call, objects } = setUp(true);
    const made = await objects.create(call);
    expect(made).toEqual({
      id: 'shop/settings',
      inputs,
      state: { ...inputs, metadata: { name: 'settings', namespace: 'shop', uid: 'new' } },
    });
    expect(cluster.applied).toEqual([{ fieldManager: expect.stringMatching(ourManager), force: false, dryRun: false }]);
  });

  test('leaves an object of another owner as it is and names the owner', async () => {
    const { cluster, call, objects } = setUp();
    cluster.live = liveOf('helm', { annotations: { 'meta.helm.sh/release-name': 'shop' } });
    await expect(objects.create(call)).rejects.toThrow(
      'exists already and belongs to Helm release shop, helm (since 2026-01-02T03:04:05Z). It was left as it is.',
    );
    expect(cluster.applied).toEqual([]);
  });

  test('goes on with an object that an interrupted run of its own made', async () => {
    const { cluster, call, objects } = setUp();
    await objects.create(call);
    const [first] = cluster.applied;
    cluster.live = liveOf(first?.fieldManager ?? '');
    await expect(objects.create(call)).resolves.toMatchObject({ id: 'shop/settings' });
    expect(cluster.applied).toHaveLength(2);
  });

  test('waits for a type whose definition is still on its way', async () => {
    const { cluster, statuses, call, objects } = setUp();
    cluster.served = undefined;
    let asked = 0;
    cluster.onGet = () => {
      if (++asked === 4) cluster.served = configMap;
    };
    await expect(objects.create(call)).resolves.toMatchObject({ id: 'shop/settings' });
    expect(statuses).toEqual(['no ConfigMap is served in v1 yet']);
  });

  test('gives up on a type that never comes, asking less and less often', async () => {
    const { cluster, clock, call, objects } = setUp();
    cluster.served = undefined;
    await expect(objects.create(call)).rejects.toThrow('gave up after 30 s: no ConfigMap is served in v1 yet');
    expect(clock.waits[0]).toBe(50);
    expect(Math.max(...clock.waits)).toBe(1_000);
    expect(clock.waits.length).toBeLessThan(45);
  });

  test('tells a refusal in the words of the server', async () => {
    const { cluster, call, objects } = setUp();
    cluster.refuse = refusal(422, 'Invalid', 'spec.replicas: Invalid value: 11:\n  must be at most 10');
    await expect(objects.create(call)).rejects.toThrow('spec.replicas: Invalid value: 11: must be at most 10');
  });

  test('that ends while it waits tells the engine that the object is there', async () => {
    const { cluster, abort, call, objects } = setUp();
    const deployment = {
      ...inputs,
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', generation: 1 },
    };
    let reads = 0;
    cluster.onGet = () => {
      if (++reads === 6) abort.abort(new Error('cancelled'));
    };
    const ended = objects.create({ ...call, inputs: deployment });
    await expect(ended).rejects.toThrow(NotReady);
    await expect(ended).rejects.toMatchObject({ id: 'web', message: 'is there but not ready: cancelled' });
  });

  test('in a preview asks the server without changing anything', async () => {
    const { cluster, call, objects } = setUp();
    await objects.tryCreate(call);
    expect(cluster.applied).toEqual([expect.objectContaining({ dryRun: true })]);
    expect(cluster.live).toBeUndefined();
  });
});

describe('update', () => {
  test('takes fields over only where that was asked for', async () => {
    for (const force of [false, true]) {
      const { cluster, call, objects } = setUp(force);
      cluster.live = liveOf('kubectl');
      await objects.update(call, { metadata: { uid: 'old' } });
      expect(cluster.applied).toEqual([expect.objectContaining({ force, dryRun: false })]);
    }
  });

  test('that meets fields of another manager names it', async () => {
    const { cluster, call, objects } = setUp();
    cluster.live = liveOf('kubectl');
    cluster.refuse = refusal(
      409,
      'Conflict',
      'Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.a',
    );
    await expect(objects.update(call, { metadata: { uid: 'old' } })).rejects.toThrow(
      'was left as it is, because another manager owns fields of it: Apply failed with 1 conflict: conflict with "kubectl"',
    );
  });

  test('makes an object anew that went missing', async () => {
    const { call, objects } = setUp();
    const made = await objects.update(call, { metadata: { uid: 'old' } });
    expect(textAt(made.state, 'metadata', 'uid')).toBe('new');
  });

  test('leaves an object alone that somebody put in the place of ours', async () => {
    const { cluster, call, objects } = setUp(true);
    cluster.live = liveOf('kubectl');
    await expect(objects.update(call, { metadata: { uid: 'ours' } })).rejects.toThrow('belongs to kubectl');
    expect(cluster.applied).toEqual([]);
  });
});

describe('read', () => {
  test('gives the inputs back when nothing drifted', async () => {
    const { cluster, call, objects } = setUp();
    cluster.live = liveOf('kubectl', { labels: { by: 'others' } });
    const read = await objects.read(call, { metadata: { uid: 'old' } });
    expect(read?.inputs).toEqual(inputs);
  });

  test('finds nothing where the object is gone, is going, or is another one', async () => {
    const { cluster, call, objects } = setUp();
    await expect(objects.read(call, { metadata: { uid: 'old' } })).resolves.toBeUndefined();
    cluster.live = liveOf('us', { deletionTimestamp: '2026-01-02T03:04:05Z' });
    await expect(objects.read(call, { metadata: { uid: 'old' } })).resolves.toBeUndefined();
    cluster.live = liveOf('us');
    await expect(objects.read(call, { metadata: { uid: 'earlier' } })).resolves.toBeUndefined();
  });
});

describe('delete', () => {
  test('returns once the object is gone', async () => {
    const { cluster, statuses, call, objects } = setUp();
    cluster.live = liveOf('us', { finalizers: ['foregroundDeletion'] });
    let reads = 0;
    cluster.onGet = () => {
      if (++reads === 5) cluster.live = undefined;
    };
    await objects.delete(call, { metadata: { uid: 'old' } });
    expect(cluster.deleted).toEqual(['old']);
    expect(statuses).toEqual(['is being deleted; waits for foregroundDeletion']);
  });

  test('does not touch an object that somebody put in the place of ours', async () => {
    const { cluster, call, objects } = setUp();
    cluster.live = liveOf('kubectl');
    await objects.delete(call, { metadata: { uid: 'earlier' } });
    expect(cluster.deleted).toEqual([]);
  });

  test('has nothing to do where the type is not served any more', async () => {
    const { cluster, call, objects } = setUp();
    cluster.served = undefined;
    await objects.delete(call, { metadata: { uid: 'old' } });
    expect(cluster.deleted).toEqual([]);
  });
});
