import { describe, expect, test } from '@jest/globals';
import { busyTicksOf, mebibytes, ticksOf } from './cost.ts';

describe('processor time', () => {
  test('of a process is that of user and system, whatever its command is called', () => {
    const stat = '4711 (a) b (c) S 1 4711 4711 0 -1 4194304 900 0 12 0 345 67 8 9 20 0 11 0 5000 1000000 2500';
    expect(ticksOf(stat)).toBe(345 + 67);
  });

  test('of the machine is all but idle and waiting for disks', () => {
    expect(busyTicksOf('cpu  100 20 30 99999 5000 4 3 2 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n')).toBe(159);
  });
});

describe('memory', () => {
  const status = 'Name:\tnode\nVmHWM:\t   81920 kB\nVmRSS:\t   51200 kB\nThreads:\t11\n';

  test('is told in MiB', () => {
    expect([mebibytes(status, 'VmRSS'), mebibytes(status, 'VmHWM')]).toEqual([50, 80]);
  });

  test('of a process that has ended is an error, not 0', () => {
    expect(() => mebibytes('Name:\tnode\nState:\tZ (zombie)\n', 'VmRSS')).toThrow('the process has no VmRSS');
  });
});
