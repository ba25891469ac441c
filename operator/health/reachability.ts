/**
 * Says once that the API server does not answer, and once that it answers again: every watch and every worker notices, and
 * none of them should have to say so.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log/log.ts';

export interface ReachabilityProps {
  readonly clock: Clock;
  readonly log: Log;
}

/** A dropped connection that is there again at once is no news. */
const patienceMs = 3000;

export class Reachability {
  readonly #props: ReachabilityProps;
  #lostAt: number | undefined;
  #wasReported = false;
  #cancelReport: (() => void) | undefined;

  constructor(props: ReachabilityProps) {
    this.#props = props;
  }

  /** Hears of each request: did the server answer, whatever it said? */
  heard(isAnswer: boolean): void {
    if (isAnswer) this.#answered();
    else if (this.#lostAt === undefined) this.#lost();
  }

  #lost(): void {
    const { clock } = this.#props;
    this.#lostAt = clock.now();
    this.#cancelReport = clock.after(patienceMs, () => {
      this.#wasReported = true;
      this.#props.log.warn('the API server does not answer; waiting for it');
    });
  }

  #answered(): void {
    if (this.#lostAt === undefined) return;
    const seconds = Math.round((this.#props.clock.now() - this.#lostAt) / 1000);
    this.#lostAt = undefined;
    this.#cancelReport?.();
    if (this.#wasReported) this.#props.log.info('the API server answers again', { afterSeconds: seconds });
    this.#wasReported = false;
  }
}
