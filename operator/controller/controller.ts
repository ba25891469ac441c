/** One controller for one kind: its caches fill a queue of keys, workers reconcile them. The façade of this folder. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kind } from '../../crds/kind.ts';
import type { OwnedType } from '../../crds/owned.ts';
import type { Clock, Random } from '../clock.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Client } from '../kube/client.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import { Queue } from '../queue/queue.ts';
import type { Cache } from '../watch/reader.ts';
import { keyOf, reconcile } from './reconcile.ts';
import { Memory } from './memory.ts';
import { ChildCaches } from './observed.ts';
import { Renderer } from './renderer.ts';
import { Runner } from './runner.ts';
import { feed } from './sources.ts';

export interface ControllerProps {
  readonly kind: Kind;
  /** Of the kind itself. Status is kept whole; it may run (be filled) before the controller does, as on a standby. */
  readonly primary: Cache;
  /** One for each type in `kind.owns`, watched by the managed-by label. Shared with other controllers. */
  readonly children: ReadonlyMap<OwnedType, Cache>;
  readonly client: Client;
  /** The name under which `client` writes, as it stands in managedFields. */
  readonly fieldManager: string;
  readonly recorder: Recorder;
  readonly observer: Observer;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** @default 10 */
  readonly maxConcurrentReconciles?: number;
  /** How often every resource is looked at again, from the cache. @default 30 s */
  readonly resyncMs?: number;
  /** After so long a reconcile is cut off and tried again later. @default 30 s */
  readonly reconcileTimeoutMs?: number;
}

export interface ControllerHealth {
  /** All caches are filled, so that workers may start. */
  readonly hasSynced: boolean;
  /** Keys that wait for a worker now. */
  readonly waiting: number;
  /** Keys that are worked on now. */
  readonly running: number;
  /** `namespace/name` of what is still worked on well after its timeout: the worker hangs. Not for probes that anybody reads. */
  readonly stuck: readonly string[];
}

export interface Controller {
  /** As in metrics and logs: the kind's name in lower case. */
  readonly name: string;
  /**
   * Waits for the caches, then works until `stop` aborts; resolves when the work in flight is finished. Never rejects for
   * what a resource or the API server does. `cut` also ends the work in flight: for a lost lease, or when patience ends.
   */
  run(stop: AbortSignal, cut?: AbortSignal): Promise<void>;
  /** Asks for a reconcile of that resource, at the priority of a live change. `cause` is a constant phrase. */
  enqueue(namespace: string, name: string, cause: string): void;
  health(): ControllerHealth;
}

/** A worker that is still busy so long after its run was cut off does not listen: it hangs. */
const graceMs = 10_000;

/** How often an unfilled cache is looked at again. */
const syncPollMs = 10;

/** How long workers go on without letting anything else of the process have a turn. */
const sliceMs = 5;

/** Throws at once when `children` lacks a type that the kind owns. Call `run` once. */
export function createController(props: ControllerProps): Controller {
  return new KindController(props);
}

class KindController implements Controller {
  readonly name: string;
  readonly #props: ControllerProps;
  readonly #caches: ChildCaches;
  readonly #queue: Queue;
  readonly #runner: Runner;
  readonly #timeoutMs: number;
  #sliceEnd = 0;

  constructor(props: ControllerProps) {
    const { kind, clock, random, observer } = props;
    this.name = kind.kind.toLowerCase();
    this.#props = props;
    this.#timeoutMs = props.reconcileTimeoutMs ?? 30_000;
    this.#caches = new ChildCaches(kind, props.children);
    this.#queue = new Queue({ name: this.name, clock, random, observer });
    const shared = {
      ...props,
      name: this.name,
      children: this.#caches,
      renderer: new Renderer(kind),
      memory: new Memory(),
    };
    this.#runner = new Runner({
      ...{ name: this.name, clock, random, observer, timeoutMs: this.#timeoutMs },
      log: props.log.with({ controller: this.name }),
      reconcile: (key, run, signal) => reconcile(key, { ...shared, ...run }, signal),
    });
  }

  async run(stop: AbortSignal, cut?: AbortSignal): Promise<void> {
    const { kind, primary } = this.#props;
    const onCut = (): void => this.#runner.cut(cut?.reason);
    const onStop = (): void => this.#queue.shutDown();
    if (cut?.aborted === true) onCut();
    if (stop.aborted) onStop();
    cut?.addEventListener('abort', onCut, { once: true });
    stop.addEventListener('abort', onStop, { once: true });
    const unfeed = feed({ kind, primary, children: this.#caches, add: (key, wish) => this.#queue.add(key, wish) });
    try {
      await this.#synced(stop);
      if (!stop.aborted) await this.#work(stop);
    } finally {
      unfeed();
      cut?.removeEventListener('abort', onCut);
      stop.removeEventListener('abort', onStop);
    }
  }

  enqueue(namespace: string, name: string, cause: string): void {
    this.#queue.add(keyOf(namespace, name), { level: 'live', cause });
  }

  health(): ControllerHealth {
    const running = this.#queue.running;
    const limit = this.#timeoutMs + graceMs;
    return {
      hasSynced: this.#hasSynced(),
      waiting: this.#queue.depth,
      running: running.length,
      stuck: running.filter(({ forMs }) => forMs > limit).map(({ key }) => key),
    };
  }

  #hasSynced(): boolean {
    return this.#props.primary.hasSynced && this.#caches.all.every((cache) => cache.hasSynced);
  }

  /** A pass over half-filled caches would create what is there. */
  async #synced(stop: AbortSignal): Promise<void> {
    let wake = (): void => undefined;
    const onStop = (): void => wake();
    stop.addEventListener('abort', onStop, { once: true });
    while (!stop.aborted && !this.#hasSynced()) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      wake = () => resolve(undefined);
      this.#props.clock.after(syncPollMs, wake);
      await promise;
    }
    stop.removeEventListener('abort', onStop);
  }

  async #work(stop: AbortSignal): Promise<void> {
    const { maxConcurrentReconciles = 10, resyncMs = 30_000, clock } = this.#props;
    // Caches may have been full for long before: what they told then nobody heard.
    this.#addAll('initial', 'first list');
    let cancel = (): void => undefined;
    const resync = (): void => {
      this.#addAll('resync', 'resync');
      cancel = clock.after(resyncMs, resync);
    };
    cancel = clock.after(resyncMs, resync);
    stop.addEventListener('abort', () => cancel(), { once: true });
    await Promise.all(Array.from({ length: maxConcurrentReconciles }, () => this.#worker()));
  }

  #addAll(level: 'initial' | 'resync', cause: string): void {
    for (const { metadata } of this.#props.primary.list()) {
      this.#queue.add(keyOf(metadata.namespace ?? '', metadata.name), { level, cause });
    }
  }

  async #worker(): Promise<void> {
    for (let item = await this.#queue.take(); item !== undefined; item = await this.#queue.take()) {
      this.#queue.done(item.key, await this.#runner.run(item));
      if (performance.now() > this.#sliceEnd) await this.#breathe();
    }
  }

  /** Runs that make no request never leave the microtask queue: ten thousand of them would hold up probes and watches. */
  async #breathe(): Promise<void> {
    await nextTurn();
    this.#sliceEnd = performance.now() + sliceMs;
  }
}
