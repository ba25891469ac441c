/** The folder of a Pulumi session: state, settings, and the CLI where the Automation API looks for it. Nothing in ~/.pulumi. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface PulumiFolder {
  /** PULUMI_HOME. */
  readonly home: string;
  /** Where the CLI runs and keeps the stack's settings. */
  readonly work: string;
  /** Contains bin/pulumi. */
  readonly root: string;
  /** URL of the file backend. */
  readonly backend: string;
}

/** Makes the folder, readable by this user only, or opens it again. A lock of a process that died is taken away. */
export function preparePulumiFolder(path: string, cli: string): PulumiFolder {
  const [home, work, state, root] = ['home', 'work', 'state', 'cli'].map((name) => join(resolve(path), name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [home, work, state, join(root, 'bin')]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(root, 'bin', 'pulumi'), wrapper(resolve(cli), home), { mode: 0o700 });
  removeDeadLocks(join(state, '.pulumi', 'locks'));
  return { home, work, root, backend: pathToFileURL(state).href };
}

/** The Automation API asks the CLI for its version without saying where its home is, and the CLI would write its log to ~/.pulumi. */
const wrapper = (cli: string, home: string): string =>
  `#!/bin/sh\nPULUMI_HOME=${quoted(home)} exec ${quoted(cli)} "$@"\n`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Pulumi's locks name process and host. One that was killed leaves its own behind, for ever. */
function removeDeadLocks(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && isDead(readFileSync(path, 'utf8'))) rmSync(path, { force: true });
  }
}

function isDead(lock: string): boolean {
  const { pid, hostname: host } = JSON.parse(lock) as { pid?: number; hostname?: string };
  if (pid === undefined || host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
