/** The processes of a cluster, told by where their program lies: kwokctl starts each from the cluster's own bin folder. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, sep } from 'node:path';

import { startOf } from './owner.ts';

export interface Running {
  readonly pid: number;
  /** Name of the program: `etcd`, `kube-apiserver`, `kwok-controller` … */
  readonly program: string;
}

/**
 * Every live process whose program lies in that folder. Pid files are not asked: a pid may belong to somebody else by
 * now, and a starter that was killed may not have written one.
 */
export function runningFrom(folder: string): readonly Running[] {
  const prefix = folder + sep;
  const commands = process.platform === 'linux' ? commandsOnLinux() : commandsByPs();
  return commands
    .filter(({ program, pid }) => program.startsWith(prefix) && startOf(pid) !== undefined)
    .map(({ pid, program }) => ({ pid, program: basename(program) }));
}

/**
 * Kills what runs from that folder and waits until it is gone, so that nothing writes there afterwards. No farewell: a
 * local cluster that is to end has no state worth one. Does not yield, so that it also works while the process exits.
 */
export function killAllFrom(folder: string): void {
  const end = Date.now() + waitMs;
  for (let running = runningFrom(folder); running.length > 0; running = runningFrom(folder)) {
    if (Date.now() > end) throw new Error(`These processes do not end: ${running.map(({ pid }) => pid).join(', ')}`);
    for (const { pid } of running) kill(pid);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

const waitMs = 5_000;

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function commandsOnLinux(): { pid: number; program: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [{ pid: Number(pid), program: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 1)[0] ?? '' }];
    } catch {
      // Gone meanwhile, or not ours to read: no process of ours either way.
      return [];
    }
  });
}

function commandsByPs(): { pid: number; program: string }[] {
  const lines = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const match = /^\s*(\d+) (\S+)/.exec(line);
    return match === null ? [] : [{ pid: Number(match[1]), program: match[2] ?? '' }];
  });
}
