/** A cache on the fake API server, with everything that a test wants to see of it. Sockets are real; time is not. */
import type { KubeObject, ResourceType } from '../charts/resource.ts';
import type { Random } from '../operator/clock.ts';
import { createClient, type ClosableClient } from '../operator/kube/connect.ts';
import { createCache, type WatchedCache } from '../operator/watch/cache.ts';
import type { Change } from '../operator/watch/reader.ts';
import { trimObject } from '../operator/watch/trim.ts';
import { soon } from './eventually.ts';
import { connectTo } from './fake-apiserver/connect-to.ts';
import { FakeApiServer } from './fake-apiserver/fake-apiserver.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingLog } from './recording-log.ts';

export const Widget: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
};
export const Gadget: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  scope: 'Namespaced',
};

export const widget = (name: string, more: Partial<KubeObject> = {}, namespace = 'shop'): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  ...more,
  metadata: { name, namespace, ...more.metadata },
});

export interface WatchHarnessProps {
  readonly type?: ResourceType;
  readonly namespaces?: readonly string[] | 'all';
  readonly labelSelector?: string;
  readonly random?: Random;
  readonly server?: FakeApiServer;
  readonly clock?: FakeClock;
}

/** A backoff of `random: 0.5` is three quarters of its whole. */
export class WatchHarness implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly clock: FakeClock;
  readonly client: ClosableClient;
  readonly cache: WatchedCache;
  readonly log = new RecordingLog();
  readonly changes: Change[] = [];
  /** Reasons of watches that ended, in order. */
  readonly restarts: string[] = [];
  /** Types of events that came in. */
  readonly events: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  private constructor(props: WatchHarnessProps, server: FakeApiServer) {
    this.server = server;
    this.clock = props.clock ?? new FakeClock();
    this.client = createClient({ connection: connectTo(server.url), fieldManager: 'reprise', clock: this.clock });
    this.cache = createCache({
      client: this.client,
      type: props.type ?? Widget,
      namespaces: props.namespaces ?? 'all',
      ...(props.labelSelector !== undefined && { labelSelector: props.labelSelector }),
      trim: (object) => trimObject(object, { fieldManager: 'reprise' }),
      clock: this.clock,
      random: props.random ?? (() => 0.5),
      log: this.log,
      observer: {
        watchEvent: (_, type) => this.events.push(type),
        watchRestarted: (_, reason) => this.restarts.push(reason),
      },
    });
    this.cache.subscribe((change) => this.changes.push(change));
    this.#running = this.cache.run(this.#stop.signal);
  }

  static async start(props: WatchHarnessProps = {}): Promise<WatchHarness> {
    const server = props.server ?? (await FakeApiServer.start({ types: [Widget, Gadget] }));
    return new WatchHarness(props, server);
  }

  /** Started, synced, and following. */
  static async synced(props: WatchHarnessProps = {}): Promise<WatchHarness> {
    const harness = await WatchHarness.start(props);
    await soon(() => harness.cache.health().watching);
    return harness;
  }

  /** `added a@1001`, in order. */
  get told(): string[] {
    return this.changes.map(
      ({ type, object }) => `${type} ${object.metadata.name}@${object.metadata.resourceVersion ?? ''}`,
    );
  }

  get names(): string[] {
    return Array.from(this.cache.list(), ({ metadata }) => metadata.name).sort();
  }

  /** Requests for the whole state, streamed or paged. */
  get lists(): number {
    const streamed = this.server.seen('watch').filter(({ query }) => query['sendInitialEvents'] === 'true');
    return streamed.length + this.server.seen('list').length;
  }

  /** Waits until so many attempts have ended; gives how long the machine means to wait after the last of them. */
  async restarted(count: number): Promise<number> {
    await soon(
      () => this.#delays.length >= count,
      () => `restart ${count}, not ${this.restarts.join(', ')}`,
    );
    return this.#delays[count - 1] ?? Number.NaN;
  }

  /** Lets the wait after the attempt of that number pass. */
  async nextAttempt(count: number): Promise<void> {
    const delayMs = await this.restarted(count);
    if (delayMs > 0) this.clock.advance(delayMs + 1);
  }

  async watching(): Promise<void> {
    await soon(() => this.cache.health().watching);
  }

  /** In whole milliseconds, in order, as the log has them. */
  get #delays(): number[] {
    return this.log.lines.flatMap(({ fields }) => (typeof fields.delayMs === 'number' ? [fields.delayMs] : []));
  }

  /** The cache and the server agree. */
  async equal(): Promise<void> {
    const type = this.cache.type;
    const summary = (objects: Iterable<KubeObject>): string =>
      Array.from(objects, ({ metadata }) => `${metadata.name} ${metadata.uid ?? ''} ${metadata.resourceVersion ?? ''}`)
        .sort()
        .join('\n');
    const expected = (): string => summary(this.server.state.list(type));
    await soon(
      () => summary(this.cache.list()) === expected(),
      () => `cache equals server:\n${expected()}\n--- but is\n${summary(this.cache.list())}`,
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    await this.#running;
    this.client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.server[Symbol.asyncDispose]();
  }
}
