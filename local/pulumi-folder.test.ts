import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { preparePulumiFolder } from './pulumi-folder.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-folder-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a session's folder", () => {
  test('is for this user only and holds the CLI where the Automation API looks for it', () => {
    const { root, work } = preparePulumiFolder(join(folder, 'a'), '/opt/pulumi');
    expect(readlinkSync(join(root, 'bin', 'pulumi'))).toBe('/opt/pulumi');
    expect(statSync(work).mode & 0o077).toBe(0);
  });

  test('opened again takes the lock of a dead process away, and no other', () => {
    const gone = spawnSync(process.execPath, ['-e', '0']).pid;
    const locks = join(folder, 'state', '.pulumi', 'locks', 'organization', 'reprise', 'local');
    mkdirSync(locks, { recursive: true });
    const lock = (name: string, owner: object): string => {
      writeFileSync(join(locks, name), JSON.stringify(owner));
      return join(locks, name);
    };
    const dead = lock('dead.json', { pid: gone, hostname: hostname() });
    const alive = lock('alive.json', { pid: process.pid, hostname: hostname() });
    const elsewhere = lock('elsewhere.json', { pid: gone, hostname: 'another-machine' });
    preparePulumiFolder(folder, '/opt/pulumi');
    expect([dead, alive, elsewhere].map((path) => existsSync(path))).toEqual([false, true, true]);
  });
});
