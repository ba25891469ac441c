/** Keeps one store in step with the server: carries out what machine.ts decides, until the signal says stop. */
import { setMaxListeners } from 'node:events';
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { resourceNameOf } from '../../charts/resource.ts';
import type { Clock, Random } from '../clock.ts';
import type { Client, WatchEvent } from '../kube/client.ts';
import {
  apiErrorOfStatus,
  isForbidden,
  isGone,
  isNotFound,
  messageOf,
  ProtocolError,
  type Status,
} from '../kube/errors.ts';
import { waitFor } from '../kube/wait.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import { initialState, step, type Attempt, type Ending, type WatchState } from './machine.ts';
import { listAll } from './pager.ts';
import type { Store } from './store.ts';
import { SnapshotBuilder } from './snapshot.ts';

export interface WatcherProps {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly type: ResourceType;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly store: Store;
  readonly trim: (object: KubeObject) => KubeObject;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer: Pick<Observer, 'watchEvent' | 'watchRestarted'>;
}

/** Bookmarks come about every minute, also when nothing happens. */
const idleMs = 75_000;
/** A streamed list that pauses for so long is not going to end: the server does not know it. */
const listIdleMs = 10_000;
const listMaxMs = 120_000;

export class Watcher {
  readonly #props: WatcherProps;
  #state: WatchState = initialState;
  #synced = false;
  #lastHeard: number | undefined;
  #lastError: unknown;
  #connected = false;

  constructor(props: WatcherProps) {
    this.#props = props;
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** A list is complete and a stream is open. */
  get connected(): boolean {
    return this.#connected;
  }

  get failures(): number {
    return this.#state.failures;
  }

  /** When the server last said anything on this stream. */
  get lastHeard(): number | undefined {
    return this.#lastHeard;
  }

  /** Why the last attempt failed; undefined while all is well. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Resolves when the signal aborts. Nothing that the server does ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = (): boolean => signal.aborted;
    while (!stopped()) {
      const attempt = await this.#attempt(signal);
      if (stopped()) return;
      const { state, delayMs } = step(this.#state, attempt, this.#props.random);
      this.#report(attempt.ending, state, delayMs);
      this.#state = state;
      await waitFor(this.#props.clock, delayMs, signal).catch(() => undefined);
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    const { clock } = this.#props;
    const started = clock.now();
    const stream = new Stream(clock, signal);
    let ending: Ending = { type: 'ended' };
    try {
      await this.#listAndWatch(stream);
    } catch (error) {
      ending = stream.ending ?? { type: 'failed', error };
    } finally {
      stream.close();
      this.#connected = false;
    }
    return { ending, lastedMs: clock.now() - started, listed: stream.listed };
  }

  async #listAndWatch(stream: Stream): Promise<void> {
    if (this.#state.phase === 'watching') return this.#follow(stream);
    if (this.#state.listMode === 'stream') return this.#followFromList(stream);
    const { items, version } = await listAll(this.#props, stream.signal, () => this.#heard());
    this.#swap(items, version, stream);
    return this.#follow(stream);
  }

  #swap(items: readonly KubeObject[], version: string, stream: Stream): void {
    this.#props.store.replace(items, version);
    this.#synced = true;
    stream.listed = true;
  }

  /** State, end bookmark and changes on one connection (KEP-3157). */
  async #followFromList(stream: Stream): Promise<void> {
    const snapshot = new SnapshotBuilder();
    const { clock } = this.#props;
    const giveUpAt = clock.now() + listMaxMs;
    stream.expectWithin(listIdleMs, { type: 'unlisted' });
    for await (const event of this.#events(stream, true)) {
      if (stream.listed) {
        this.#take(event);
      } else if (snapshot.add(event)) {
        this.#swap(snapshot.objects(), versionOf(event), stream);
      }
      if (stream.listed) this.#connectedNow(stream);
      else stream.expectWithin(Math.min(listIdleMs, giveUpAt - clock.now()), { type: 'unlisted' });
    }
  }

  /** Changes after the version that the store has. */
  async #follow(stream: Stream): Promise<void> {
    // Armed before the first event: a connection may be dead from the start.
    stream.expectWithin(idleMs, { type: 'silent' });
    this.#connected = true;
    for await (const event of this.#events(stream, false)) {
      this.#take(event);
      this.#connectedNow(stream);
    }
  }

  #connectedNow(stream: Stream): void {
    this.#connected = true;
    this.#lastError = undefined;
    stream.expectWithin(idleMs, { type: 'silent' });
  }

  async *#events(stream: Stream, sendInitialEvents: boolean): AsyncGenerator<WatchEvent, void, void> {
    const { client, type, namespace, labelSelector, store, observer, trim } = this.#props;
    const query = {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(sendInitialEvents ? { sendInitialEvents } : { resourceVersion: store.version ?? '' }),
      // Spread, so that not all streams end together.
      timeoutSeconds: Math.round(300 + 300 * this.#props.random()),
    };
    for await (const event of client.watch(type, query, stream.signal)) {
      this.#heard();
      observer.watchEvent(resourceNameOf(type), event.type);
      if (event.type === 'ERROR') throw apiErrorOfStatus(event.object as unknown as Partial<Status>, { status: 500 });
      yield event.type === 'BOOKMARK' ? event : { type: event.type, object: trim(event.object) };
    }
  }

  #take(event: WatchEvent): void {
    const { store } = this.#props;
    const version = versionOf(event);
    if (event.type === 'DELETED') store.remove(event.object);
    else if (event.type !== 'BOOKMARK') store.upsert(event.object);
    store.advance(version);
  }

  #heard(): void {
    this.#lastHeard = this.#props.clock.now();
  }

  #report(ending: Ending, next: WatchState, delayMs: number): void {
    const { log, observer, type } = this.#props;
    const error = ending.type === 'failed' ? ending.error : undefined;
    observer.watchRestarted(resourceNameOf(type), error === undefined ? ending.type : reasonOf(error));
    const fields = {
      resource: resourceNameOf(type),
      reason: ending.type,
      next: next.phase,
      delayMs: Math.round(delayMs),
    };
    if (error === undefined || isGone(error)) {
      log.debug('watch restarts', fields);
      return;
    }
    const news = reasonOf(this.#lastError) !== reasonOf(error);
    this.#lastError = error;
    if (news) log.warn(adviceFor(error), { ...fields, error: messageOf(error) });
    else log.debug('watch still fails', fields);
  }
}

const adviceFor = (error: unknown): string => {
  if (isForbidden(error)) return 'no right to list and watch; waiting for it to be granted';
  if (isNotFound(error)) return 'the type is not served; waiting for its definition to be installed';
  return 'watch failed; trying again';
};

const reasonOf = (error: unknown): string =>
  (error as { reason?: string } | undefined)?.reason ?? (error === undefined ? '' : 'Error');

const versionOf = (event: WatchEvent): string => {
  const version = event.object.metadata.resourceVersion;
  if (version === undefined || version === '')
    throw new ProtocolError(`a watch sent ${event.type} without a resourceVersion`);
  return version;
};

/** One attempt's signal, its one timer, and why it was cut when we cut it. */
class Stream {
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #abort = (): void => this.#controller.abort(this.#parent.reason);
  #cancelTimer = (): void => undefined;
  listed = false;
  ending: Ending | undefined;

  constructor(clock: Clock, parent: AbortSignal) {
    this.#clock = clock;
    this.#parent = parent;
    setMaxListeners(0, parent);
    parent.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something must be heard within that time, else the attempt ends so. Replaces the timer before. */
  expectWithin(delayMs: number, ending: Ending): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(Math.max(0, delayMs), () => {
      this.ending = ending;
      this.#controller.abort(new Error(`the watch was cut: ${ending.type}`));
    });
  }

  /** Ends the connection, if it is still open. */
  close(): void {
    this.#cancelTimer();
    this.#parent.removeEventListener('abort', this.#abort);
    this.#controller.abort(new Error('the attempt is over'));
  }
}
