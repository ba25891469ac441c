import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';

import { scratch } from './fixtures/scratch.ts';
import { killAllFrom, runningFrom } from './processes.ts';

const { platform } = process;
const pretend = (name: string): unknown => Object.defineProperty(process, 'platform', { value: name });
afterEach(() => void pretend(platform));

async function runFrom(folder: string): Promise<ChildProcess> {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'etcd');
  copyFileSync('/bin/sleep', program);
  const child = spawn(program, ['60']);
  await once(child, 'spawn');
  return child;
}

describe.each([
  ['this system', platform],
  ['a system without /proc', 'darwin'],
])('processes of a folder on %s', (_, system) => {
  test('are found by where their program lies, and killed; a folder whose name only begins so is another one', async () => {
    pretend(system);
    using folder = scratch();
    const mine = await runFrom(join(folder.path, 'bin'));
    const other = await runFrom(join(folder.path, 'bin-of-another'));
    expect(runningFrom(join(folder.path, 'bin'))).toEqual([{ pid: mine.pid, program: 'etcd' }]);
    killAllFrom(join(folder.path, 'bin'));
    expect(runningFrom(join(folder.path, 'bin'))).toEqual([]);
    expect(runningFrom(join(folder.path, 'bin-of-another'))).toEqual([{ pid: other.pid, program: 'etcd' }]);
    killAllFrom(folder.path);
    expect(runningFrom(folder.path)).toEqual([]);
  });
});
