/** One attempt's abort signal, its timers, and why we cut it if we did. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import type { Ending } from './machine.ts';

export class AttemptSignal {
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #stop = (): void => this.#controller.abort(this.#parent.reason);
  #cancelTimer = (): void => undefined;
  #ending: Ending | undefined;

  /** Aborts with its parent. Must be closed. */
  constructor(clock: Clock, parent: AbortSignal) {
    this.#clock = clock;
    this.#parent = parent;
    setMaxListeners(0, parent);
    parent.addEventListener('abort', this.#stop, { once: true });
    if (parent.aborted) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it was cut; undefined if it was not. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  /** Something must be heard within that time, else the attempt is cut. Replaces what was expected before. */
  expectWithin(delayMs: number, otherwise: Ending): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(Math.max(0, delayMs), () => this.cut(otherwise));
  }

  cut(ending: Ending): void {
    this.#ending = ending;
    this.#controller.abort(new Error(`the watch was cut: ${ending.type}`));
  }

  /** Ends the connection if it is still open. */
  close(): void {
    this.#cancelTimer();
    this.#parent.removeEventListener('abort', this.#stop);
    this.#controller.abort(new Error('the attempt is over'));
  }
}
