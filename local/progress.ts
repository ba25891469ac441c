/** How long work tells what it does. */
export interface Progress {
  /** A line that stays. */
  say(line: string): void;
  /** The state of things, replaced by the next one where the output is a terminal. */
  update(line: string): void;
}

/** Says nothing. */
export const silent: Progress = { say: () => undefined, update: () => undefined };

const plainIntervalMs = 10_000;

/**
 * Progress on a stream (default: standard error, so that standard output stays clean). On a terminal the state is one
 * line that is written over; else a state is printed at most every ten seconds.
 */
export function progressOn(
  stream: { write(text: string): unknown; isTTY?: boolean; columns?: number } = process.stderr,
  now: () => number = Date.now,
): Progress {
  let shown = false;
  let last = -Infinity;
  const clear = (): string => (shown ? '\r\u001b[K' : '');
  return {
    say(line) {
      stream.write(`${clear()}${line}\n`);
      shown = false;
    },
    update(line) {
      if (stream.isTTY === true) {
        stream.write(`\r\u001b[K${line.slice(0, (stream.columns ?? 80) - 1)}`);
        shown = true;
      } else if (now() - last >= plainIntervalMs) {
        last = now();
        stream.write(`${line}\n`);
      }
    },
  };
}

/** `1:40`, `12:05`, `1:02:03`. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
