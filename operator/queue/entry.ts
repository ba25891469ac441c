/** What the queue knows of one key, and the types in which it is told and tells. */
import type { Pace } from './backoff.ts';

/** Why a key is looked at: a live change goes before the first list, and that before a resync. */
export type Level = 'live' | 'initial' | 'resync';

export interface Wish {
  readonly level: Level;
  /** A constant phrase; those of one run are shown together. */
  readonly cause: string;
  /** @default 0 */
  readonly delayMs?: number;
}

/** A key to work on. */
export interface Item {
  readonly key: string;
  readonly causes: readonly string[];
  /** Runs in a row that asked for a retry. */
  readonly failures: number;
}

/** What the worker wants done with the key. */
export type Next =
  | { readonly then: 'forget' }
  /** All is well; look again later. */
  | { readonly then: 'after'; readonly delayMs: number }
  /** With backoff. `atLeastMs` also holds against changes that come meanwhile: a server's Retry-After. */
  | { readonly then: 'retry'; readonly pace?: Pace; readonly atLeastMs?: number };

/** A wish with its moment. */
export interface Plan {
  readonly level: Level;
  readonly at: number;
  /** Waits out a failure: only a live change or a new list may bring it forward. */
  readonly isRetry: boolean;
}

/**
 * - `delayed` until `plan.at`;
 * - `throttled`: a retry that is due, but the bucket is empty;
 * - `waiting` for a worker;
 * - `running`, with `again` when it was asked for meanwhile.
 */
export type State = 'delayed' | 'throttled' | 'waiting' | 'running';

export interface Entry {
  readonly key: string;
  state: State;
  plan: Plan;
  again: Plan | undefined;
  /** Of the run to come. */
  causes: Set<string>;
  failures: number;
  /** Runs before this moment are refused. */
  notBefore: number;
  /** Took a token from the bucket. */
  holdsToken: boolean;
  /** Since when it waits or runs. */
  since: number;
  /** Order among those that wait. */
  score: number;
  sequence: number;
}

export const newEntry = (key: string): Entry => ({
  key,
  state: 'delayed',
  plan: { level: 'resync', at: Infinity, isRetry: false },
  again: undefined,
  causes: new Set(),
  failures: 0,
  notBefore: 0,
  holdsToken: false,
  since: 0,
  score: 0,
  sequence: 0,
});

/**
 * How much later a key seems to have come than it did. Whoever waits so long is therefore before everything that comes
 * after: nothing is overtaken by what was added more than 30 s later (controller-runtime#3496 starves).
 */
export const handicapMs: Readonly<Record<Level, number>> = { live: 0, initial: 20_000, resync: 30_000 };

const higher = (a: Level, b: Level): Level => (handicapMs[a] <= handicapMs[b] ? a : b);

/** The earlier of two times, the higher of two levels. A resync does not bring a retry forward: its backoff would be none. */
export function merge(plan: Plan, wish: Plan): Plan {
  if (wish.level === 'resync' && plan.isRetry) return plan;
  return {
    level: higher(plan.level, wish.level),
    at: Math.min(plan.at, wish.at),
    isRetry: plan.isRetry && plan.at <= wish.at,
  };
}
