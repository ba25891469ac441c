/** A cache of one resource type: one list and one watch for each namespace, however many readers. */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { resourceNameOf } from '../../charts/resource.ts';
import type { Clock, Random } from '../clock.ts';
import type { Client } from '../kube/client.ts';
import { messageOf } from '../kube/errors.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type { Cache, Change, ChangeListener } from './reader.ts';
import { OwnWrites, type EndWrite, type WriteAware } from './own-writes.ts';
import { Store } from './store.ts';
import { Watcher } from './watcher.ts';

export interface CacheProps {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly type: ResourceType;
  readonly namespaces: readonly string[] | 'all';
  readonly labelSelector?: string;
  /** What is kept of an object; must not change the one it is given. See trimObject. */
  readonly trim: (object: KubeObject) => KubeObject;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer: Pick<Observer, 'watchEvent' | 'watchRestarted'>;
}

/** How the streams of a cache are doing. Of several, the worst. */
export interface CacheHealth {
  /** Every list was complete once. */
  readonly synced: boolean;
  /** Every stream is open now. */
  readonly watching: boolean;
  /** How long ago the server said anything on the quietest stream; undefined before it ever did. */
  readonly lastActivityMs: number | undefined;
  /** Attempts in a row that did not last. */
  readonly failures: number;
  /** Why the last one failed, in one line. */
  readonly lastError?: string;
}

export interface WatchedCache extends Cache, WriteAware {
  readonly type: ResourceType;
  /** Lists and watches until the signal aborts, then resolves. Survives everything that a server does. */
  run(signal: AbortSignal): Promise<void>;
  health(): CacheHealth;
}

interface Slice {
  readonly store: Store;
  readonly watcher: Watcher;
}

export const createCache = (props: CacheProps): WatchedCache => new NamespacedCache(props);

class NamespacedCache implements WatchedCache {
  readonly type: ResourceType;
  readonly #props: CacheProps;
  /** By namespace; '' watches all of them. */
  readonly #slices: ReadonlyMap<string, Slice>;
  readonly #listeners = new Set<ChangeListener>();
  readonly #own = new OwnWrites((change) => this.#notify(change));

  constructor(props: CacheProps) {
    this.type = props.type;
    this.#props = props;
    const everywhere = props.namespaces === 'all' || props.type.scope === 'Cluster';
    const namespaces = everywhere ? [''] : new Set(props.namespaces);
    this.#slices = new Map(Array.from(namespaces, (namespace) => [namespace, this.#newSlice(namespace)]));
  }

  get hasSynced(): boolean {
    return this.#all().every(({ watcher }) => watcher.report.hasSynced);
  }

  get size(): number {
    return this.#all().reduce((sum, { store }) => sum + store.size, 0);
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#sliceOf(namespace)?.store.get(namespace, name);
  }

  *list(): Iterable<KubeObject> {
    for (const { store } of this.#slices.values()) yield* store.list();
  }

  ownedBy(uid: string): readonly KubeObject[] {
    return this.#all().flatMap(({ store }) => store.ownedBy(uid));
  }

  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  writing(namespace: string, name: string): EndWrite {
    return this.#own.begin(namespace, name);
  }

  written(object: KubeObject): void {
    const slice = this.#sliceOf(object.metadata.namespace ?? '');
    slice?.store.written(this.#props.trim(object));
    slice?.watcher.wrote(object.metadata.resourceVersion);
  }

  deleted(namespace: string, name: string, uid: string): void {
    this.#sliceOf(namespace)?.store.deleted(namespace, name, uid);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all().map(({ watcher }) => watcher.run(signal)));
  }

  health(): CacheHealth {
    const reports = this.#all().map(({ watcher }) => watcher.report);
    const heard = reports.map(({ lastHeard }) => lastHeard);
    const quietest = heard.includes(undefined) ? undefined : Math.min(...heard.filter((time) => time !== undefined));
    const problem = reports.map((report) => report.problem).find((each) => each !== undefined);
    return {
      synced: this.hasSynced,
      watching: reports.every(({ isWatching }) => isWatching),
      lastActivityMs: quietest === undefined ? undefined : this.#props.clock.now() - quietest,
      failures: Math.max(0, ...reports.map(({ failures }) => failures)),
      ...(problem !== undefined && { lastError: messageOf(problem) }),
    };
  }

  #all(): readonly Slice[] {
    return [...this.#slices.values()];
  }

  #sliceOf(namespace: string): Slice | undefined {
    return this.#slices.get('') ?? this.#slices.get(namespace);
  }

  #newSlice(namespace: string): Slice {
    const store = new Store((change) => this.#own.heard(change));
    const watcher = new Watcher({ ...this.#props, ...(namespace !== '' && { namespace }), store });
    return { store, watcher };
  }

  /** One listener's failure is neither another's nor the watch's. */
  #notify(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#props.log.error('a listener of the cache failed', error, { resource: resourceNameOf(this.type) });
      }
    }
  }
}
