/**
 * The watch machine's decisions, without its IO: what to do next, from where, after how long. watcher.ts does it.
 *
 *   listing --listed--> watching --ended, broken, silent--> watching (resumes, no new list)
 *      ^                   |
 *      +------ gone -------+   (410, 404, or a resume that is refused again and again)
 */
import type { Random } from '../clock.ts';
import { isBadRequest, isConnectionError, isGone, isInvalid, isNotFound, retryAfterMsOf } from '../kube/errors.ts';

export type ListMode =
  /** sendInitialEvents: cheap for the server, on by default since Kubernetes 1.34. */
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
  /** The stream did not tell of a write of ours. */
  | { readonly type: 'behind' }
  /** A streamed list did not come to its end bookmark. */
  | { readonly type: 'unlisted' }
  | { readonly type: 'failed'; readonly error: unknown };

export interface Attempt {
  readonly ending: Ending;
  /** The list came to its end during this attempt. */
  readonly listed: boolean;
  /** From the beginning of the stream to the last that was heard on it. */
  readonly goodForMs: number;
}

export interface Step {
  readonly state: WatchState;
  readonly delayMs: number;
}

export const initialState: WatchState = { phase: 'listing', listMode: 'stream', failures: 0 };

const firstDelayMs = 250;
const maxDelayMs = 30_000;
/**
 * A stream that was alive for so long was good, so that the next one starts at once. Counting events instead would let a
 * server that ends each stream after one event be called without pause.
 */
const goodMs = 10_000;
const patience = 3;

/** Doubles, with the upper half of it random; 0 without failures. */
export const backoffMs = (failures: number, random: Random): number => {
  if (failures === 0) return 0;
  const whole = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 20));
  return whole / 2 + (whole / 2) * random();
};

/** Our own timers have waited long enough already, and a quiet type must not be left alone for a backoff every minute. */
const failuresAfter = (before: number, { ending, goodForMs }: Attempt): number =>
  ending.type === 'silent' || ending.type === 'behind' || goodForMs >= goodMs ? 0 : before + 1;

/** The server is there and said no, without asking for time. */
const isRefusal = (error: unknown): boolean => !isConnectionError(error) && retryAfterMsOf(error) === undefined;

/** Servers that do not know streamed lists say so, end the stream early, or never come to the end of the list. */
const refusesStreaming = (state: WatchState, { ending, listed }: Attempt): boolean => {
  if (state.phase !== 'listing' || state.listMode !== 'stream' || listed) return false;
  if (ending.type === 'failed') return isInvalid(ending.error) || isBadRequest(ending.error);
  return ending.type === 'unlisted' || ending.type === 'ended';
};

/** What we know is of no use any more, or the same resume is refused again and again. `failures` counts this attempt too. */
const mustList = (ending: Ending, failures: number): boolean => {
  if (ending.type !== 'failed') return false;
  if (isGone(ending.error) || isNotFound(ending.error)) return true;
  return failures >= patience && isRefusal(ending.error);
};

/** The next state after an attempt, and how long to wait first. Pure. */
export const step = (state: WatchState, attempt: Attempt, random: Random): Step => {
  if (refusesStreaming(state, attempt)) return { state: { ...state, listMode: 'pages' }, delayMs: 0 };
  const { ending, listed } = attempt;
  const failures = failuresAfter(state.failures, attempt);
  const knows = listed || state.phase === 'watching';
  const phase = knows && !mustList(ending, failures) ? 'watching' : 'listing';
  const asked = ending.type === 'failed' ? (retryAfterMsOf(ending.error) ?? 0) : 0;
  // Retry-After is the least to wait; a little more, so that not everybody comes back together.
  return {
    state: { ...state, phase, failures },
    delayMs: Math.max(backoffMs(failures, random), asked * (1 + random() / 4)),
  };
};
