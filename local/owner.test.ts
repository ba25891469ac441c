import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import { isAlive, startOf, thisProcess } from './owner.ts';

/** Only Linux shows zombies and commands in its file system. */
const onLinux = process.platform === 'linux' ? test : test.skip;

describe('owner', () => {
  test('this process is alive', () => {
    expect(thisProcess().pid).toBe(process.pid);
    expect(isAlive(thisProcess())).toBe(true);
  });

  test('a process that ended is not alive', async () => {
    const child = spawn('sleep', ['60']);
    const owner = { ...thisProcess(), pid: child.pid!, started: startOf(child.pid!)! };
    expect(isAlive(owner)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(isAlive(owner)).toBe(false);
  });

  test('a later process of the same pid is not taken for the owner', () => {
    expect(isAlive({ ...thisProcess(), started: '1' })).toBe(false);
  });

  test('of another boot or container nothing is said', () => {
    expect(isAlive({ ...thisProcess(), place: 'elsewhere' })).toBeUndefined();
  });

  onLinux('a process that ended and was not waited for counts as gone', async () => {
    // sh starts a child and becomes another program, which never waits for it: the child stays a zombie.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const child = Number(line.toString());
      await until(() => readFileSync(`/proc/${parent.pid!}/cmdline`, 'utf8').startsWith('sleep'));
      process.kill(child, 'SIGKILL');
      await until(() => startOf(child) === undefined);
      expect(() => process.kill(child, 0)).not.toThrow();
    } finally {
      parent.kill('SIGKILL');
    }
  });
});

describe('owner on a system without /proc', () => {
  const { platform } = process;
  const pretend = (name: string): unknown => Object.defineProperty(process, 'platform', { value: name });
  beforeEach(() => void pretend('darwin'));
  afterEach(() => void pretend(platform));

  test('is told by ps: alive while it runs, gone when it ended, not another of the same pid', async () => {
    const child = spawn('sleep', ['60']);
    const owner = { ...thisProcess(), pid: child.pid!, started: startOf(child.pid!)! };
    expect(owner.started).toMatch(/\d{2}:\d{2}:\d{2} \d{4}$/);
    expect(isAlive(owner)).toBe(true);
    expect(isAlive({ ...owner, started: 'Sat Nov 21 10:43:39 1998' })).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(isAlive(owner)).toBe(false);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
