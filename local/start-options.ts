/** The flags of `npm start`. */
import { parseArgs } from 'node:util';

export interface StartOptions {
  /** An existing context of the user's kubeconfig instead of a local control plane. */
  readonly context: string | undefined;
  /** Ends when the samples are ready (exit code 0) or when they did not become so in time (1). */
  readonly once: boolean;
  /** Does not ask before it installs on an existing cluster. */
  readonly yes: boolean;
  /** How long the samples may take to become ready. */
  readonly timeoutMs: number;
}

/** Bad flags. The message is one line. */
export class UsageError extends Error {}

export const usage = `npm start -- [flags]

Starts a local control plane, installs Reprise on it with Pulumi, runs the operator as the installed ServiceAccount,
applies the samples and shows them becoming ready. Ctrl-C takes everything down.

  --context NAME   use that context of your kubeconfig instead of a local control plane (asks first)
  --once           exit 0 when the samples are ready, 1 with the reason when they are not
  --timeout N      seconds that the samples may take to become ready (default 120)
  --yes            do not ask before installing on an existing cluster
  --help           this text`;

/** Gives the options, or undefined when help was asked for. Throws UsageError. */
export function startOptions(args: readonly string[]): StartOptions | undefined {
  const { values } = parsed(args);
  if (values.help === true) return undefined;
  const seconds = Number(values.timeout ?? '120');
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new UsageError(`--timeout: got "${values.timeout ?? ''}", expected a number of seconds above 0`);
  }
  if (values.context === '') throw new UsageError('--context: got an empty name, expected one of your kubeconfig');
  return {
    context: values.context,
    once: values.once === true,
    yes: values.yes === true,
    timeoutMs: seconds * 1000,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        context: { type: 'string' },
        once: { type: 'boolean' },
        timeout: { type: 'string' },
        yes: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new UsageError(`${message ?? ''}; see npm start -- --help`, { cause: error });
  }
}
