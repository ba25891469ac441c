/** The operator as a process of this machine, as `npm start`, tests and benches run it. */
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';

export interface OperatorProcessProps {
  readonly kubeconfig: string;
  readonly namespaces: readonly string[];
  /** Where its log lines go. */
  readonly logFile: string;
  /** More flags. @default none */
  readonly flags?: readonly string[];
  /** Folder of a local cluster's programs: then it counts as one of them, and goes when the cluster goes, whatever became of us. */
  readonly programsFolder?: string;
}

export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with what is to be said when it ends, asked or not. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly lastLines: string;
  }>;
  /** Asks it to stop and waits until it did; after `graceMs` it is killed. */
  stop(graceMs?: number): Promise<void>;
}

const root = join(import.meta.dirname, '..');

export async function startOperator(props: OperatorProcessProps): Promise<OperatorProcess> {
  const log = createWriteStream(props.logFile, { flags: 'a' });
  await once(log, 'open');
  const flags = ['--kubeconfig', props.kubeconfig, '--namespaces', props.namespaces.join(','), ...(props.flags ?? [])];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(root, 'operator/main.ts'), ...flags],
    {
      stdio: ['ignore', log, log],
      // Not in our process group's way: Ctrl-C reaches us alone, and we stop it in order.
      detached: true,
      cwd: root,
      ...(props.programsFolder !== undefined && { argv0: join(props.programsFolder, 'reprise') }),
    },
  );
  await once(child, 'spawn');
  const ended = once(child, 'exit').then(([code, signal]) => {
    log.end();
    return {
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      lastLines: readFileSync(props.logFile, 'utf8').trimEnd().split('\n').slice(-5).join('\n'),
    };
  });
  const stop = async (graceMs = 15_000): Promise<void> => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await ended;
    clearTimeout(timer);
  };
  return { pid: child.pid ?? 0, ended, stop, [Symbol.asyncDispose]: () => stop() };
}
