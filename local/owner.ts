/**
 * Who owns a thing on disk: a process, named so that a reused pid is not taken for it. Locks and clusters of owners that
 * are gone may be cleared away by anyone.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Owner {
  readonly pid: number;
  /** Start time of the process as the system gives it; only equality counts. */
  readonly started: string;
  /** The place in which the pid means something: boot and pid namespace. */
  readonly place: string;
}

/** This process. */
export function thisProcess(): Owner {
  return { pid: process.pid, started: startOf(process.pid) ?? 'unknown', place: here() };
}

/**
 * Whether the owner still runs. `undefined` where that cannot be known from here: another boot, machine or container
 * that shares the folder.
 */
export function isAlive(owner: Owner): boolean | undefined {
  if (owner.place !== here()) return undefined;
  return startOf(owner.pid) === owner.started;
}

/** Start time of a running process; `undefined` when there is none (a zombie is none). */
export function startOf(pid: number): string | undefined {
  return process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
}

function startOnLinux(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the command in parentheses and may hold anything; the rest starts after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function startByPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
    const [state = '', ...start] = line.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : start.join(' ');
  } catch (error) {
    // ps leaves with 1 when there is no such process.
    if ((error as { status?: unknown }).status === 1) return undefined;
    throw error;
  }
}

function here(): string {
  if (process.platform !== 'linux') return hostname();
  return `${(readIfThere('/proc/sys/kernel/random/boot_id') ?? '').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}
