/** Time as a parameter, so that no test sleeps. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels it. The timer never keeps the process alive by itself. */
  after(delayMs: number, callback: () => void): () => void;
}

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
