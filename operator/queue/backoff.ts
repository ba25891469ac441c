/** How long to wait before the next try, from the number of failures in a row. Pure. */
import type { Random } from '../clock.ts';

export interface Pace {
  /** Ceiling of the first delay; it doubles with each failure. */
  readonly baseMs: number;
  /** No ceiling is higher. */
  readonly maxMs: number;
}

/**
 * client-go starts at 5 ms and ends at 1000 s: nine tries in the first second and then hardly any. What fails here are
 * requests to an API server; it gets a tenth of a second first, and nobody waits longer than five minutes.
 */
export const defaultPace: Pace = { baseMs: 100, maxMs: 5 * 60_000 };

/** The delay before jitter: never falls with more failures. `failures` counts from 1. */
export const ceilingMs = ({ baseMs, maxMs }: Pace, failures: number): number =>
  Math.min(maxMs, baseMs * 2 ** (failures - 1));

/**
 * The delay: anywhere in the upper half of the ceiling. Half of it is kept, rather than jitter from 0 on, so that a key
 * which fails at once can never be tried many times in a row by chance.
 */
export const delayMs = (pace: Pace, failures: number, random: Random): number =>
  ceilingMs(pace, failures) * (1 - random() / 2);
