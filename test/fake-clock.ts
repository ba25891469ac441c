/** A clock that a test turns. Time stands still otherwise. */
import type { Clock } from '../operator/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now: number;

  constructor(now = Date.parse('2026-01-01T00:00:00Z')) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How long until each waiting timer, soonest first. */
  get waits(): readonly number[] {
    return Array.from(this.#timers, (timer) => timer.at - this.#now).sort((a, b) => a - b);
  }

  /** Runs every timer that falls due, each at its own time, also those that are set meanwhile. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#dueBefore(end); next !== undefined; next = this.#dueBefore(end)) {
      this.#timers.delete(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = end;
  }

  /** Of equal times the one that was set first. */
  #dueBefore(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  }
}
