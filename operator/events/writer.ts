/** Writes Events one after the other, in a bounded queue, again while the server cannot be reached. Loses events rather than its patience. */
import type { Clock, Random } from '../clock.ts';
import type { Client } from '../kube/client.ts';
import { isAlreadyExists, isApiError, isNamespaceTerminating, isNotFound } from '../kube/errors.ts';
import { waitFor } from '../kube/wait.ts';
import type { Log } from '../log/log.ts';
import type { EventWrite } from './aggregator.ts';
import { eventType } from './event-object.ts';

export interface EventWriterProps {
  readonly client: Pick<Client, 'create' | 'jsonPatch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const maxQueued = 1000;
/** client-go's figures: two minutes of trying for one event. */
const maxTries = 12;
const retryMs = 10_000;
const complainMs = 60_000;

export class EventWriter {
  readonly #props: EventWriterProps;
  /** By the name of the Event: a newer count replaces the one that waits. */
  readonly #queue = new Map<string, EventWrite>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #complainedAt = Number.NEGATIVE_INFINITY;
  #lost = 0;

  constructor(props: EventWriterProps) {
    this.#props = props;
  }

  add(write: EventWrite): void {
    if (this.#stop.signal.aborted) return;
    const name = `${write.event.metadata.namespace ?? ''}/${write.event.metadata.name}`;
    if (this.#queue.size >= maxQueued && !this.#queue.has(name)) {
      this.#complain(new Error('too many events are waiting'));
      return;
    }
    this.#queue.set(name, merged(this.#queue.get(name), write));
    this.#running ??= this.#run();
  }

  /** Resolves when the queue is empty, or when `signal` aborts. */
  async close(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await this.#running;
    signal.removeEventListener('abort', stop);
  }

  async #run(): Promise<void> {
    for (const [name, write] of this.#queue) {
      this.#queue.delete(name);
      await this.#deliver(write);
      if (this.#stop.signal.aborted) this.#queue.clear();
    }
    this.#running = undefined;
  }

  /** Never rejects. */
  async #deliver(write: EventWrite): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#send(write);
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (!isWorthRetrying(error) || tries === maxTries) {
          this.#complain(error);
          return;
        }
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const delayMs = retryMs * (0.75 + this.#props.random() / 2);
    // Rejects only when the writer is stopped, and then there is nobody to tell.
    await waitFor(this.#props.clock, delayMs, this.#stop.signal).catch(() => undefined);
  }

  async #send({ event, series }: EventWrite): Promise<void> {
    if (series === undefined) return this.#create(event);
    const { namespace = '', name } = event.metadata;
    try {
      await this.#props.client.jsonPatch(
        eventType,
        { namespace, name },
        [{ op: 'add', path: '/series', value: series }],
        this.#stop.signal,
      );
    } catch (error) {
      // Events live for an hour, a series may live longer.
      if (!isNotFound(error)) throw error;
      await this.#create({ ...event, series });
    }
  }

  async #create(event: EventWrite['event']): Promise<void> {
    try {
      await this.#props.client.create(eventType, event, this.#stop.signal);
    } catch (error) {
      // An earlier try came through and its answer was lost.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Once a minute at most: a server that refuses events refuses all of them. */
  #complain(error: unknown): void {
    if (isNamespaceTerminating(error)) return;
    const { clock, log } = this.#props;
    this.#lost += 1;
    if (clock.now() - this.#complainedAt < complainMs) return;
    log.error('events could not be written', error, { events: this.#lost });
    this.#complainedAt = clock.now();
    this.#lost = 0;
  }
}

/** An Event that still waits and its count become one request: an Event that is created with its series. */
const merged = (waiting: EventWrite | undefined, { event, series }: EventWrite): EventWrite =>
  series !== undefined && waiting?.series === undefined && waiting !== undefined
    ? { event: { ...event, series } }
    : { event, ...(series !== undefined && { series }) };

/** Refusals stay refusals; all else (no answer, overload, a server in trouble) may pass. */
const isWorthRetrying = (error: unknown): boolean => !isApiError(error) || error.status === 429 || error.status >= 500;
