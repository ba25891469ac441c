/** What processes cost, told by the system: processor time and memory. Linux only; elsewhere there are no such figures. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether this system tells. */
export const isMeasurable = process.platform === 'linux';

/** Of one process since it started. */
export interface Cost {
  readonly cpuMs: number;
  readonly rssMiB: number;
  /** The most it ever was. */
  readonly peakRssMiB: number;
}

/** Throws when there is no such process. */
export function costOf(pid: number): Cost {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMs: ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8')) * msPerTick(),
    rssMiB: mebibytes(status, 'VmRSS'),
    peakRssMiB: mebibytes(status, 'VmHWM'),
  };
}

/** Processor time that the whole machine has been busy, all processors together. */
export const busyMs = (): number => busyTicksOf(readFileSync('/proc/stat', 'utf8')) * msPerTick();

let tickMs: number | undefined;
/** USER_HZ: 100 nearly everywhere, but the system is asked. */
const msPerTick = (): number => (tickMs ??= 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })));

/** utime + stime of /proc/PID/stat. The command, in parentheses, may hold anything; the fields begin after the last one. */
export function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** All of the first line of /proc/stat but idle and iowait; guest time is in user time already. */
export function busyTicksOf(stat: string): number {
  const [, user, nice, system, , , irq, softirq, steal] = (stat.split('\n', 1)[0] ?? '').split(/\s+/).map(Number);
  return [user, nice, system, irq, softirq, steal].reduce((sum: number, ticks) => sum + (ticks ?? 0), 0);
}

/** A line of /proc/PID/status such as `VmRSS:     41236 kB`. */
export function mebibytes(status: string, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`the process has no ${field}: it has ended`);
  return Number(kibibytes) / 1024;
}
