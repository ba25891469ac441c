/**
 * The watch machine's decisions, without its IO: what to do next, from where, after how long. watcher.ts does it.
 *
 *   listing --listed--> watching --ended, broken, silent--> watching (resumes, no new list)
 *      ^                   |
 *      +------ gone -------+   (410, 404, or a resume that fails again and again)
 */
import type { Random } from '../clock.ts';
import { isBadRequest, isConnectionError, isGone, isInvalid, isNotFound, retryAfterMsOf } from '../kube/errors.ts';

export type ListMode =
  /** sendInitialEvents: cheap for the server, needs Kubernetes 1.32 or later. */
  | 'stream'
  /** Pages of 500. */
  | 'pages';

export interface WatchState {
  /** What the next attempt begins with. */
  readonly phase: 'listing' | 'watching';
  readonly listMode: ListMode;
  /** Attempts in a row that did not last. */
  readonly failures: number;
}

/** How an attempt ended. */
export type Ending =
  /** The server ended the stream, as it does every few minutes. */
  | { readonly type: 'ended' }
  /** Our own timer: nothing was heard for longer than bookmarks are apart. */
  | { readonly type: 'silent' }
  /** A streamed list did not come to its end bookmark. */
  | { readonly type: 'unlisted' }
  | { readonly type: 'failed'; readonly error: unknown };

export interface Attempt {
  readonly ending: Ending;
  readonly lastedMs: number;
  /** The list came to its end during this attempt. */
  readonly listed: boolean;
}

export interface Step {
  readonly state: WatchState;
  readonly delayMs: number;
}

export const initialState: WatchState = { phase: 'listing', listMode: 'stream', failures: 0 };

const firstDelayMs = 250;
const maxDelayMs = 30_000;
/** An attempt that lasts so long was good, so that the next one starts at once. Counting events instead would let a server that ends each stream after one event be called without pause. */
const goodMs = 10_000;

/** Doubles, with the upper half of it random; 0 without failures. */
export const backoffMs = (failures: number, random: Random): number => {
  if (failures === 0) return 0;
  const whole = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 20));
  return whole / 2 + (whole / 2) * random();
};

/** Refusals of the streamed list itself, by servers that do not know it. */
const refusesStreaming = (state: WatchState, attempt: Attempt): boolean => {
  if (state.phase !== 'listing' || state.listMode !== 'stream' || attempt.listed) return false;
  const { ending } = attempt;
  return (
    ending.type === 'unlisted' || (ending.type === 'failed' && (isInvalid(ending.error) || isBadRequest(ending.error)))
  );
};

/** What we know of the server's state is of no use any more; `failures` counts this attempt too. */
const mustList = (error: unknown, failures: number): boolean => {
  if (isGone(error) || isNotFound(error)) return true;
  // An answer that the same resume gets again and again: begin anew rather than ask for ever.
  const answered = !isConnectionError(error) && retryAfterMsOf(error) === undefined;
  return answered && failures >= 3;
};

/** The next state after an attempt, and how long to wait first. Pure. */
export const step = (state: WatchState, attempt: Attempt, random: Random): Step => {
  if (refusesStreaming(state, attempt)) return { state: { ...state, listMode: 'pages' }, delayMs: 0 };
  const { ending } = attempt;
  const failures = attempt.lastedMs >= goodMs ? 0 : state.failures + 1;
  const listed = attempt.listed || state.phase === 'watching';
  const error = ending.type === 'failed' ? ending.error : undefined;
  const phase = !listed || (error !== undefined && mustList(error, failures)) ? 'listing' : 'watching';
  // Retry-After is the least to wait, also when our own backoff is shorter.
  const delayMs = Math.max(backoffMs(failures, random), (retryAfterMsOf(error) ?? 0) * (1 + random() / 4));
  return { state: { ...state, phase, failures }, delayMs };
};
