import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { isAlive, startOf, thisProcess } from './owner.ts';

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

  test('a process that ended and was not waited for counts as gone', async () => {
    // sh starts a child, becomes sleep, and so never waits for it: a zombie.
    const parent = spawn('sh', ['-c', '(exit 0) & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    while (startOf(zombie) !== undefined) await new Promise((resolve) => setImmediate(resolve));
    expect(() => process.kill(zombie, 0)).not.toThrow();
    parent.kill('SIGKILL');
    await once(parent, 'close');
  });
});
