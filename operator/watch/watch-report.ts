/** What one stream tells about itself: health, log, metrics. Takes no decision. */
import { resourceNameOf, type ResourceType } from '../../charts/resource.ts';
import type { Clock } from '../clock.ts';
import type { WatchEvent } from '../kube/client.ts';
import { isForbidden, isGone, isNotFound, messageOf } from '../kube/errors.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type { Ending, WatchState } from './machine.ts';

export interface WatchReportProps {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Pick<Observer, 'watchEvent' | 'watchRestarted'>;
}

export class WatchReport {
  readonly #props: WatchReportProps;
  readonly #resource: string;
  #synced = false;
  #watching = false;
  #failures = 0;
  #lastHeard: number | undefined;
  #problem: unknown;
  #problemSince = 0;

  constructor(props: WatchReportProps) {
    this.#props = props;
    this.#resource = resourceNameOf(props.type);
  }

  /** A list was complete once. */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** A list is complete and a stream is open. */
  get isWatching(): boolean {
    return this.#watching;
  }

  /** Attempts in a row that did not last; 0 while a stream is open. */
  get failures(): number {
    return this.#watching ? 0 : this.#failures;
  }

  /** When the server last said anything. */
  get lastHeard(): number | undefined {
    return this.#lastHeard;
  }

  /** Why it does not work; undefined while it does. */
  get problem(): unknown {
    return this.#problem;
  }

  heard(): void {
    this.#lastHeard = this.#props.clock.now();
  }

  event(event: WatchEvent): void {
    this.heard();
    this.#props.observer.watchEvent(this.#resource, event.type);
  }

  listed(): void {
    this.heard();
    this.#synced = true;
  }

  watching(): void {
    this.heard();
    this.#watching = true;
    if (this.#problem === undefined) return;
    const seconds = Math.round((this.#props.clock.now() - this.#problemSince) / 1000);
    this.#problem = undefined;
    this.#props.log.info('watch works again', { ...this.#fields(), seconds });
  }

  /** An attempt ended; warns when the reason is a new one, not at each repetition. */
  ended(ending: Ending, next: WatchState, delayMs: number): void {
    const { log, observer } = this.#props;
    const error = ending.type === 'failed' ? ending.error : undefined;
    const reason = error === undefined ? ending.type : reasonOf(error);
    this.#watching = false;
    this.#failures = next.failures;
    observer.watchRestarted(this.#resource, reason);
    const fields = { ...this.#fields(), reason, next: next.phase, delayMs: Math.round(delayMs) };
    const isNews =
      error !== undefined && !isGone(error) && (this.#problem === undefined || reason !== reasonOf(this.#problem));
    if (isNews) log.warn(adviceFor(error), { ...fields, error: messageOf(error) });
    else log.debug('watch restarts', fields);
    if (error !== undefined && !isGone(error)) this.#remember(error);
  }

  #remember(error: unknown): void {
    if (this.#problem === undefined) this.#problemSince = this.#props.clock.now();
    this.#problem = error;
  }

  #fields(): { readonly resource: string; readonly namespace?: string } {
    const { namespace } = this.#props;
    return { resource: this.#resource, ...(namespace !== undefined && { namespace }) };
  }
}

const adviceFor = (error: unknown): string => {
  if (isForbidden(error)) return 'no right to list and watch; waiting for it to be granted';
  if (isNotFound(error)) return 'the type is not served; waiting for its definition to be installed';
  return 'watch failed; trying again';
};

const reasonOf = (error: unknown): string => (error as { reason?: string }).reason ?? 'Error';
