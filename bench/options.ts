/** The flags of `npm run bench`. */
import { parseArgs } from 'node:util';
import { Invalid, wholeNumber } from '../operator/flags.ts';

export interface BenchOptions {
  /** WebServers in each leg. */
  readonly n: number;
  /** Resources that the operator, and the floor, work on at a time. */
  readonly concurrency: number;
  /** How often the four legs F O O F are run. */
  readonly rounds: number;
  /** Where the JSON goes; absent: a file of its own below bench/results/. */
  readonly out: string | undefined;
}

/** Bad flags. The message is one line. */
export class UsageError extends Error {}

export const usage = `npm run bench -- [flags]

Creates WebServers as fast as a local control plane takes them, served by the operator (O) and by a bare script that makes
the least writes (F), in the order F O O F; checks every answer, prints a table and writes JSON. See docs/performance.md.

  --n N             WebServers in each leg (default 1000)
  --concurrency N   resources worked on at a time, by operator and floor alike (default 10)
  --rounds N        how often the four legs are run (default 1)
  --out FILE        where the JSON goes (default: a file of its own below bench/results/)
  --help            this text

Exit codes: 0 every answer right and every counted target met · 1 a wrong answer, a counted target missed, or no run at all
· 2 bad usage. Targets of time are printed as PASS or MISS and decide nothing: a machine may be busy.`;

/** Gives the options, or undefined when help was asked for. Throws UsageError. */
export function benchOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parsed(args);
  if (values.help === true) return undefined;
  if (values.out === '') throw new UsageError('--out: got an empty path, expected one of a file to write');
  return {
    n: within('n', values.n ?? '1000', 100_000),
    concurrency: within('concurrency', values.concurrency ?? '10', 1000),
    rounds: within('rounds', values.rounds ?? '1', 100),
    out: values.out,
  };
}

function within(name: string, text: string, maximum: number): number {
  const value = wholeNumber(1, maximum)(text);
  if (value instanceof Invalid) throw new UsageError(`--${name}: expected ${value.expected}, got "${text}"`);
  return value;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        n: { type: 'string' },
        concurrency: { type: 'string' },
        rounds: { type: 'string' },
        out: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new UsageError(`${message ?? ''}; see npm run bench -- --help`, { cause: error });
  }
}
