/** The one place that decides what becomes of a key after a run, and what is told of it. Pure. */
import {
  isApiError,
  isConflict,
  isConnectionError,
  isNotServed,
  isServerTimeout,
  isTooManyRequests,
  isUnauthorized,
  isUnavailable,
  retryAfterMsOf,
} from '../kube/errors.ts';
import type { Pace } from '../queue/backoff.ts';
import type { Next } from '../queue/entry.ts';

/** How a reconcile ends when it does not throw. */
export type Outcome = { readonly then: 'done' } | { readonly then: 'requeueAfter'; readonly delayMs: number };

export const done: Outcome = { then: 'done' };

/** Trying again would fail again: nobody retries until the resource changes. A condition says why. */
export class Terminal extends Error {
  override readonly name = 'Terminal';
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** The cache was behind the server. Nothing is wrong: the next look, with newer eyes, goes through. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
  readonly reason = 'Superseded';
}

/** A reconcile took too long and was cut off. */
export class ReconcileTimeout extends Error {
  override readonly name = 'ReconcileTimeout';
  readonly reason = 'Timeout';
}

export interface Verdict {
  readonly next: Next;
  /** controller-runtime's label of reconcile_total. */
  readonly result: 'success' | 'error' | 'requeue' | 'requeue_after';
  /** How loudly a failure is told; absent when there is none. */
  readonly tell?: 'debug' | 'warn' | 'error';
  readonly isTerminal?: boolean;
}

/** The server cannot be reached or asks for quiet: not this key's fault. Soon enough when it is back. */
const unreachablePace: Pace = { baseMs: 100, maxMs: 10_000 };

/** The server did not serve us at all: going on with the same pass is pointless. */
export const isUnreachable = (error: unknown): boolean =>
  isConnectionError(error) ||
  isUnauthorized(error) ||
  isTooManyRequests(error) ||
  isUnavailable(error) ||
  isServerTimeout(error);

/** No connection at all: the operator says that once (health/reachability.ts), not for each resource. */
const isAway = (error: unknown): boolean => isConnectionError(error) && error.code !== 'TIMEOUT';

export const verdictOfOutcome = (outcome: Outcome): Verdict =>
  outcome.then === 'done'
    ? { next: { then: 'forget' }, result: 'success' }
    : { next: { then: 'after', delayMs: outcome.delayMs }, result: 'requeue_after' };

/** `isCut`: the operator ends the run itself, because it stops or may no longer write. */
export function verdictOfError(error: unknown, isCut: boolean): Verdict {
  if (isCut) return { next: { then: 'forget' }, result: 'requeue', tell: 'debug' };
  if (error instanceof Terminal) {
    // The condition, its event and its line in the log have said it.
    return { next: { then: 'forget' }, result: 'error', tell: 'debug', isTerminal: true };
  }
  if (error instanceof Superseded || isConflict(error)) {
    return { next: { then: 'retry' }, result: 'requeue', tell: 'debug' };
  }
  const atLeastMs = retryAfterMsOf(error);
  if (atLeastMs !== undefined) {
    return { next: { then: 'retry', pace: unreachablePace, atLeastMs }, result: 'requeue', tell: 'warn' };
  }
  const pace = isUnreachable(error) || isNotServed(error) ? { pace: unreachablePace } : {};
  return { next: { then: 'retry', ...pace }, result: 'error', tell: isAway(error) ? 'debug' : 'error' };
}

/** A message as a condition or an event holds it: what the server says may be pages. */
export const bounded = (message: string): string => (message.length <= 1024 ? message : `${message.slice(0, 1023)}…`);

/** What to call the reason of an error in a condition: the server's word, if it has one that may stand there. */
export const reasonOf = (error: unknown, otherwise: string): string =>
  isApiError(error) && /^[A-Za-z]+$/.test(error.reason) ? error.reason : otherwise;
