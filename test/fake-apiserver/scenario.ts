/** A short life of some objects, seen through requests and watches: what any API server, real or fake, should answer alike. */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import type { Client, WatchEvent, WatchQuery } from '../../operator/kube/client.ts';
import { ApiError } from '../../operator/kube/errors.ts';
import { soon } from '../eventually.ts';

export const Gizmo: ResourceType = {
  group: 'oracle.example.com',
  version: 'v1',
  kind: 'Gizmo',
  plural: 'gizmos',
  scope: 'Namespaced',
};

export const gizmoDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gizmos.oracle.example.com' },
  spec: {
    group: Gizmo.group,
    scope: 'Namespaced',
    names: { kind: 'Gizmo', plural: 'gizmos', singular: 'gizmo', listKind: 'GizmoList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** Answers and events, without what differs from server to server: `step: what`. */
export type Transcript = string[];

const never = new AbortController().signal;

/** Versions in the order in which they appear, the same number for the same version. */
class Versions {
  readonly #seen = new Map<string, number>();

  nameOf(version: string | undefined): string {
    if (version === undefined || version === '') return '-';
    const known = this.#seen.get(version) ?? this.#seen.size + 1;
    this.#seen.set(version, known);
    return `v${known}`;
  }
}

class Recorder {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #versions = new Versions();
  readonly #stop = new AbortController();
  readonly transcript: Transcript = [];

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  gizmo(name: string, more: { readonly metadata?: object; readonly spec?: object } = {}): KubeObject {
    const metadata = { name, namespace: this.#namespace, ...more.metadata };
    return { apiVersion: 'oracle.example.com/v1', kind: 'Gizmo', ...more, metadata };
  }

  ref(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#namespace, name };
  }

  /** Does one step and notes what came of it. */
  async step<T>(name: string, does: (client: Client) => Promise<T>): Promise<T | undefined> {
    try {
      const value = await does(this.#client);
      this.transcript.push(`${name}: ${this.#describe(value)}`);
      return value;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { status, reason, details } = error;
      this.transcript.push(`${name}: refused ${status} ${reason} ${details?.kind ?? '-'}/${details?.name ?? '-'}`);
      return undefined;
    }
  }

  /** Notes the first `count` events of a watch, or fewer when it ends or is refused. */
  async watch(name: string, query: WatchQuery, count: number): Promise<void> {
    const stop = new AbortController();
    try {
      let left = count;
      for await (const event of this.#client.watch(Gizmo, { namespace: this.#namespace, ...query }, stop.signal)) {
        this.transcript.push(`${name}: ${this.#describeEvent(event)}`);
        left -= 1;
        if (left === 0) return;
      }
      this.transcript.push(`${name}: ended`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.transcript.push(`${name}: refused ${error.status} ${error.reason}`);
    } finally {
      stop.abort();
    }
  }

  /** Starts a watch that goes on beside the steps; `heard` waits for it to have told so many events, then notes them. */
  follow(name: string, query: WatchQuery): { heard(count: number): Promise<void> } {
    const events: WatchEvent[] = [];
    const run = async (): Promise<void> => {
      const watch = this.#client.watch(Gizmo, { namespace: this.#namespace, ...query }, this.#stop.signal);
      for await (const event of watch) if (!isPlainBookmark(event)) events.push(event);
    };
    const running = run().catch((error: unknown) => {
      if (!this.#stop.signal.aborted) throw error;
    });
    return {
      heard: async (count) => {
        await Promise.race([soon(() => events.length >= count), running]);
        for (const event of events.splice(0)) this.transcript.push(`${name}: ${this.#describeEvent(event)}`);
      },
    };
  }

  stop(): void {
    this.#stop.abort();
  }

  #describeEvent({ type, object }: WatchEvent): string {
    if (type === 'ERROR') {
      const { code, reason } = object as unknown as { code: number; reason: string };
      return `ERROR ${code} ${reason}`;
    }
    if (type !== 'BOOKMARK') return `${type} ${this.#describe(object)}`;
    const { resourceVersion, creationTimestamp, annotations } = object.metadata;
    const kept = { creationTimestamp, annotations, hasVersion: Number(resourceVersion) > 0 };
    return `BOOKMARK ${object.apiVersion} ${object.kind} ${JSON.stringify(kept)}`;
  }

  #describe(value: unknown): string {
    if (value === undefined) return 'done';
    if (Array.isArray(value)) return `[${value.map((each) => this.#describe(each)).join('; ')}]`;
    const { apiVersion, kind, metadata, ...rest } = value as KubeObject;
    const { name, labels, generation, finalizers, deletionTimestamp, managedFields } = metadata;
    const managers = managedFields?.map((entry) => `${entry.manager}/${entry.operation}/${entry.subresource ?? ''}`);
    const kept = { labels, generation, finalizers, deleting: deletionTimestamp !== undefined, managers, ...rest };
    return `${apiVersion} ${kind} ${name}@${this.#versions.nameOf(metadata.resourceVersion)} ${JSON.stringify(kept)}`;
  }
}

/** They come by time, not by what happens. */
const isPlainBookmark = ({ type, object }: WatchEvent): boolean =>
  type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true';

/** Writes in an empty namespace and tells what came of it. */
export const play = async (client: Client, namespace: string): Promise<Transcript> => {
  const r = new Recorder(client, namespace);
  const all = r.follow('all', { sendInitialEvents: true });
  await all.heard(1);
  const blue = r.follow('blue', { sendInitialEvents: true, labelSelector: 'color=blue' });
  await blue.heard(1);

  const a = await r.step('create', (c) =>
    c.create(Gizmo, r.gizmo('a', { metadata: { labels: { color: 'blue' } }, spec: { size: 1 } }), never),
  );
  await r.step('create again', (c) => c.create(Gizmo, r.gizmo('a'), never));
  await r.step('get', (c) => c.get(Gizmo, r.ref('a'), never));
  await r.step('get nothing', (c) => c.get(Gizmo, r.ref('none'), never));
  await r.step('apply to nothing', (c) => c.apply(Gizmo, r.gizmo('b', { spec: { size: 1 } }), never));
  await r.step('apply the same', (c) => c.apply(Gizmo, r.gizmo('b', { spec: { size: 1 } }), never));
  await r.step('apply another', (c) => c.apply(Gizmo, r.gizmo('b', { spec: { size: 2 } }), never));
  await r.step('status', (c) => c.patchStatus(Gizmo, r.ref('b'), { status: { ready: true } }, never));
  await r.step('status, the same', (c) => c.patchStatus(Gizmo, r.ref('b'), { status: { ready: true } }, never));
  await r.step('status with an old version', (c) =>
    c.patchStatus(Gizmo, r.ref('b'), { metadata: { resourceVersion: '1' }, status: { ready: false } }, never),
  );
  await r.step('status with another uid', (c) =>
    c.patchStatus(Gizmo, r.ref('b'), { metadata: { uid: 'other' }, status: { ready: false } }, never),
  );
  await r.step('json patch', (c) =>
    c.jsonPatch(
      Gizmo,
      r.ref('b'),
      [
        { op: 'test', path: '/spec/size', value: 2 },
        { op: 'replace', path: '/spec/size', value: 3 },
      ],
      never,
    ),
  );
  await r.step('json patch of another value', (c) =>
    c.jsonPatch(Gizmo, r.ref('b'), [{ op: 'test', path: '/spec/size', value: 2 }], never),
  );
  await r.step('leaves the selection', (c) =>
    c.jsonPatch(Gizmo, r.ref('a'), [{ op: 'replace', path: '/metadata/labels/color', value: 'red' }], never),
  );
  await r.step('comes back', (c) =>
    c.jsonPatch(Gizmo, r.ref('a'), [{ op: 'replace', path: '/metadata/labels/color', value: 'blue' }], never),
  );
  await r.step('list', async (c) => (await c.list(Gizmo, { namespace }, never)).items);
  await r.step(
    'list blue',
    async (c) => (await c.list(Gizmo, { namespace, labelSelector: 'color=blue' }, never)).items,
  );
  await r.step(
    'list by name',
    async (c) => (await c.list(Gizmo, { namespace, fieldSelector: 'metadata.name=b' }, never)).items,
  );
  let token = '';
  await r.step('first page', async (c) => {
    const page = await c.list(Gizmo, { namespace, limit: 1 }, never);
    token = page.continue ?? '';
    return page.items;
  });
  await r.step(
    'second page',
    async (c) => (await c.list(Gizmo, { namespace, limit: 1, continue: token }, never)).items,
  );
  await r.step('delete another uid', (c) => c.delete(Gizmo, r.ref('a'), { uid: 'other' }, never));
  await r.step('delete', (c) => c.delete(Gizmo, r.ref('a'), { uid: a?.metadata.uid ?? '' }, never));
  await r.step('delete again', (c) => c.delete(Gizmo, r.ref('a'), { uid: a?.metadata.uid ?? '' }, never));
  const again = await r.step('create under the old name', (c) =>
    c.create(Gizmo, r.gizmo('a', { metadata: { finalizers: ['example.com/wait'] } }), never),
  );
  await r.step('delete with a finalizer', (c) =>
    c.delete(Gizmo, r.ref('a'), { uid: again?.metadata.uid ?? '' }, never),
  );
  await r.step('let it go', (c) =>
    c.jsonPatch(Gizmo, r.ref('a'), [{ op: 'remove', path: '/metadata/finalizers' }], never),
  );
  await all.heard(12);
  await blue.heard(4);
  await r.watch('from a version', { resourceVersion: a?.metadata.resourceVersion ?? '' }, 4);
  await r.watch('from the beginning of time', { resourceVersion: '1' }, 1);
  r.stop();
  return r.transcript;
};
