import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  test('is for this user only', () => {
    const { work, home } = preparePulumiFolder(join(folder, 'a'), '/opt/pulumi');
    expect([work, home].map((path) => statSync(path).mode & 0o077)).toEqual([0, 0]);
  });

  test('holds the CLI where the Automation API looks for it, with a home of its own, whatever the names are', () => {
    const cli = join(folder, "it's the cli");
    writeFileSync(cli, '#!/bin/sh\necho "$PULUMI_HOME: $*"\n', { mode: 0o700 });
    const { root, home } = preparePulumiFolder(join(folder, "o'clock"), cli);
    const printed = execFileSync(join(root, 'bin', 'pulumi'), ['up', 'a b'], { encoding: 'utf8' });
    expect(printed).toBe(`${home}: up a b\n`);
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
