/** Ctrl-C and its kin, as an AbortSignal. */
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes on the Ctrl-C that the terminal has sent already: signals so close together are one. */
const oneMs = 300;

/** The first signal asks for an orderly end; a later one ends at once. */
export class Interrupted extends Error {
  /** As shells expect it: 128 and the signal's number. */
  readonly exitCode: number;

  constructor(signal: (typeof signals)[number]) {
    super(`Interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Aborts its signal with Interrupted as long as it is not disposed of. */
export function onInterrupt(now: () => number = Date.now): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  let first = Infinity;
  const handle = (name: (typeof signals)[number]): void => {
    const reason = new Interrupted(name);
    if (now() - first > oneMs) process.exit(reason.exitCode);
    first = Math.min(first, now());
    controller.abort(reason);
  };
  for (const name of signals) process.on(name, handle);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of signals) process.off(name, handle);
    },
  };
}
