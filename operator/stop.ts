/** How the process comes to its end: in order, at once, or because something is broken. Exits only through what it is given. */
import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { Log } from './log/log.ts';

/** What of `process` is used here. */
export interface ProcessEvents extends Pick<EventEmitter, 'on'> {
  readonly stderr: Pick<EventEmitter, 'on'>;
}

export type Exit = (code: number) => void;

/** Ctrl-C reaches the whole foreground group, and npm passes it on besides: that is one wish, not two. */
const sameWishMs = 300;

/**
 * The first SIGTERM or SIGINT aborts the signal that is returned; the next one, unless it comes with the first, ends the
 * process at once, with 128 + its number.
 */
export function stopOnSignals(events: ProcessEvents, log: Log, exit: Exit, now = () => performance.now()): AbortSignal {
  const stop = new AbortController();
  let stoppedAt = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    events.on(name, () => {
      if (stop.signal.aborted) {
        if (now() - stoppedAt >= sameWishMs) exit(128 + constants.signals[name]);
        return;
      }
      stoppedAt = now();
      log.info('stopping', { signal: name });
      stop.abort(new Error(`stopped by ${name}`));
    });
  return stop.signal;
}

/** Nobody waits for a stray error, so nobody knows what state it left behind: a fresh process does better. */
export function crashOnStrayErrors(events: ProcessEvents, log: Log, exit: Exit): void {
  for (const kind of ['unhandledRejection', 'uncaughtException'])
    events.on(kind, (error: unknown) => {
      log.error('crashed', error, { because: kind });
      exit(1);
    });
  // The reader of the log may be gone first: no reason to crash, and it could not be logged.
  events.stderr.on('error', () => undefined);
}

/** The time in which work may end in order. */
export interface Grace extends Disposable {
  /** Aborts when the time is over: what still runs should end now. */
  readonly signal: AbortSignal;
  /** Resolves a moment later: what runs then does not listen, and is left behind. */
  readonly over: Promise<void>;
}

const lastMomentMs = 1000;

/** Begins when `stop` aborts. Its timer keeps the process alive. */
export function graceAfter(stop: AbortSignal, timeoutMs: number): Grace {
  const cut = new AbortController();
  const over = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = setTimeout(() => {
      cut.abort(new Error('the time for stopping in order is over'));
      timer = setTimeout(() => over.resolve(undefined), lastMomentMs);
    }, timeoutMs);
  };
  stop.addEventListener('abort', begin, { once: true });
  return { signal: cut.signal, over: over.promise, [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Without an endpoint, and while the API server is away, nothing else would: the parts' timers do not hold the process. */
export function keepAlive(): Disposable {
  const timer = setInterval(() => undefined, 2 ** 30);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
