import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { claimFolder, clustersRoot, folderOf, handToUser, NameTaken, removeCluster, sweep } from './cluster-folder.ts';
import { scratch } from './fixtures/scratch.ts';
import { ownerOf } from './owned-folder.ts';
import { thisProcess } from './owner.ts';

const gone = { ...thisProcess(), started: 'long ago' };
let cache: ReturnType<typeof scratch>;

beforeEach(() => {
  cache = scratch();
  process.env['XDG_CACHE_HOME'] = cache.path;
});
afterEach(() => {
  delete process.env['XDG_CACHE_HOME'];
  cache[Symbol.dispose]();
});

describe('the folder of a cluster', () => {
  test('lies in the cache and names its owner', () => {
    expect(claimFolder('one', thisProcess())).toBe(join(cache.path, 'reprise/clusters/one'));
    expect(ownerOf(folderOf('one'))).toEqual(thisProcess());
    handToUser('one');
    expect(ownerOf(folderOf('one'))).toBe('user');
  });

  test('belongs to the first who claims it', () => {
    claimFolder('one', thisProcess());
    expect(() => claimFolder('one', gone)).toThrow(NameTaken);
    expect(ownerOf(folderOf('one'))).toEqual(thisProcess());
    expect(readdirSync(clustersRoot())).toEqual(['one']);
  });

  test.each(['', '..', 'a/b', 'Upper', '-x', 'x'.repeat(41)])('%j is no name', (name) => {
    expect(() => claimFolder(name, 'user')).toThrow(TypeError);
  });

  test('is removed whole, and removing what is not there is no error', () => {
    writeFileSync(join(claimFolder('one', thisProcess()), 'kubeconfig'), 'x');
    removeCluster('one');
    removeCluster('one');
    expect(readdirSync(clustersRoot())).toEqual([]);
  });
});

describe('a sweep', () => {
  test('takes what belongs to nobody, and nothing else', () => {
    claimFolder('mine', thisProcess());
    claimFolder('dead', gone);
    claimFolder('stays', 'user');
    claimFolder('elsewhere', { ...gone, place: 'another container' });
    mkdirSync(join(clustersRoot(), '.gone-1'));
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(join(clustersRoot(), '.gone-1'), hourAgo, hourAgo);
    mkdirSync(join(clustersRoot(), '.new-1'));
    expect(sweep()).toEqual(['dead']);
    expect(readdirSync(clustersRoot()).sort()).toEqual(['.new-1', 'elsewhere', 'mine', 'stays']);
  });

  test('of no folder at all is no error', () => {
    expect(sweep()).toEqual([]);
    expect(existsSync(clustersRoot())).toBe(false);
  });
});
