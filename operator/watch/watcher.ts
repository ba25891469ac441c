/** Keeps one store in step with the server: carries out what machine.ts decides, until the signal says stop. */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import type { Clock, Random } from '../clock.ts';
import type { Client, WatchEvent, WatchQuery } from '../kube/client.ts';
import { apiErrorOfStatus, ProtocolError, type Status } from '../kube/errors.ts';
import { waitFor } from '../kube/wait.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import { AttemptSignal } from './attempt-signal.ts';
import { EchoGuard } from './echo.ts';
import { initialState, step, type Attempt, type Ending, type WatchState } from './machine.ts';
import { listAll } from './pager.ts';
import { SnapshotBuilder } from './snapshot.ts';
import type { Store } from './store.ts';
import { WatchReport } from './watch-report.ts';

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
/** A streamed list that pauses for so long, or takes so long, is not going to end: the server does not know it. */
const listIdleMs = 10_000;
const listMaxMs = 120_000;

export class Watcher {
  readonly report: WatchReport;
  readonly #props: WatcherProps;
  readonly #echo: EchoGuard;
  #state: WatchState = initialState;
  #attempt: AttemptSignal | undefined;
  #listed = false;
  /** When the current stream began. */
  #openedAt: number | undefined;

  constructor(props: WatcherProps) {
    this.#props = props;
    this.report = new WatchReport(props);
    this.#echo = new EchoGuard(props.clock, () => this.#attempt?.cut({ type: 'behind' }));
  }

  /** We wrote that version of an object that this stream should tell of. */
  wrote(version: string | undefined): void {
    this.#echo.wrote(version, this.#props.store.version);
  }

  /** Resolves when the signal aborts. Nothing that the server does ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = (): boolean => signal.aborted;
    while (!stopped()) {
      const attempt = await this.#try(signal);
      if (stopped()) break;
      const { state, delayMs } = step(this.#state, attempt, this.#props.random);
      this.#state = state;
      this.report.ended(attempt.ending, state, delayMs);
      if (delayMs > 0) await waitFor(this.#props.clock, delayMs, signal).catch(() => undefined);
    }
    this.#echo.reset();
  }

  async #try(parent: AbortSignal): Promise<Attempt> {
    const attempt = new AttemptSignal(this.#props.clock, parent);
    this.#attempt = attempt;
    this.#listed = false;
    this.#openedAt = undefined;
    let ending: Ending = { type: 'ended' };
    try {
      await this.#listAndWatch(attempt);
    } catch (error) {
      ending = attempt.ending ?? { type: 'failed', error };
    } finally {
      attempt.close();
      this.#attempt = undefined;
    }
    return { ending, listed: this.#listed, goodForMs: this.#goodForMs() };
  }

  #goodForMs(): number {
    const { lastHeard } = this.report;
    return this.#openedAt === undefined || lastHeard === undefined ? 0 : Math.max(0, lastHeard - this.#openedAt);
  }

  async #listAndWatch(attempt: AttemptSignal): Promise<void> {
    if (this.#state.phase === 'watching') return this.#follow(attempt);
    if (this.#state.listMode === 'stream') return this.#followFromList(attempt);
    const { items, version } = await listAll(this.#props, attempt.signal, () => this.report.heard());
    this.#swap(items, version);
    return this.#follow(attempt);
  }

  /** Changes after the version that the store has. */
  async #follow(attempt: AttemptSignal): Promise<void> {
    // Armed before the first event: a connection may be dead from the start.
    attempt.expectWithin(idleMs, { type: 'silent' });
    const opened = (): void => {
      this.#openedAt = this.#props.clock.now();
      this.report.watching();
    };
    for await (const event of this.#events({ resourceVersion: this.#props.store.version ?? '' }, attempt, opened)) {
      this.#take(event);
      attempt.expectWithin(idleMs, { type: 'silent' });
    }
  }

  /** State, end bookmark and changes on one connection (KEP-3157). */
  async #followFromList(attempt: AttemptSignal): Promise<void> {
    const { clock } = this.#props;
    const snapshot = new SnapshotBuilder();
    const giveUpAt = clock.now() + listMaxMs;
    const expectMore = (): void => {
      if (this.#listed) attempt.expectWithin(idleMs, { type: 'silent' });
      else attempt.expectWithin(Math.min(listIdleMs, giveUpAt - clock.now()), { type: 'unlisted' });
    };
    attempt.expectWithin(idleMs, { type: 'silent' });
    for await (const event of this.#events({ sendInitialEvents: true }, attempt, expectMore)) {
      if (this.#listed) this.#take(event);
      else if (snapshot.add(event)) this.#swap(snapshot.objects(), versionOf(event));
      expectMore();
    }
  }

  #swap(items: readonly KubeObject[], version: string): void {
    const { store, clock } = this.#props;
    store.replace(items, version);
    this.#listed = true;
    this.#openedAt = clock.now();
    this.#echo.heard(version);
    this.report.listed();
    this.report.watching();
  }

  async *#events(from: WatchQuery, attempt: AttemptSignal, opened: () => void): AsyncGenerator<WatchEvent, void, void> {
    const { client, type, namespace, labelSelector, random, trim } = this.#props;
    const query = {
      ...from,
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      // Spread, so that not all streams end together.
      timeoutSeconds: Math.round(300 + 300 * random()),
    };
    for await (const event of client.watch(type, query, attempt.signal, opened)) {
      this.report.event(event);
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
    this.#echo.heard(version);
  }
}

const versionOf = (event: WatchEvent): string => {
  const version = event.object.metadata.resourceVersion;
  if (version === undefined || version === '')
    throw new ProtocolError(`a watch sent ${event.type} without a resourceVersion`);
  return version;
};
