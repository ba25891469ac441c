/** Waiting for what really takes its own time (sockets), without sleeping: looks again after each turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves to the first value that is neither undefined nor false; throws when none comes in `timeoutMs` of real time. */
export const soon = async <T>(
  look: () => T | undefined | false,
  what = () => look.toString(),
  timeoutMs = 8_000,
): Promise<T> => {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`did not come true within ${timeoutMs} ms: ${what()}`);
    await nextTurn();
  }
};

/** Lets everything that is under way on the sockets of this process come to rest: many turns of the event loop. */
export const settled = async (turns = 50): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
};
