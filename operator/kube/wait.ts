/** Waiting by a clock that a test can turn. */
import type { Clock } from '../clock.ts';

/** Resolves after `delayMs`; rejects with the signal's reason when that comes first. */
export const waitFor = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
  });
