import { describe, expect, test } from '@jest/globals';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';

import { scratch, script } from '../fixtures/scratch.ts';
import { lookUp, searchPath } from './lookup.ts';
import { programs } from './table.ts';

describe('programs that are there already', () => {
  test('KUBEBUILDER_ASSETS comes before PATH; a folder counts once; relative folders do not', () => {
    using folder = scratch();
    mkdirSync(`${folder.path}/usr/bin`, { recursive: true });
    symlinkSync(`${folder.path}/usr/bin`, `${folder.path}/bin`);
    const environment = {
      KUBEBUILDER_ASSETS: '/assets',
      PATH: `.:${folder.path}/usr/bin:${folder.path}/bin:/nowhere:/assets:`,
    };
    expect(searchPath(environment)).toEqual(['/assets', `${folder.path}/usr/bin`, '/nowhere']);
    expect(searchPath({})).toEqual([]);
  });

  test('what does not fit is named, and the next one taken', async () => {
    using folder = scratch();
    const { path } = folder;
    script(`${path}/old/etcd`, 'echo etcd Version: 3.4.9');
    script(`${path}/broken/etcd`, 'exit 1');
    writeFileSync(`${path}/etcd`, 'not executable');
    mkdirSync(`${path}/folder/etcd`, { recursive: true });
    script(`${path}/good/etcd`, 'echo etcd Version: 3.6.2');
    script(`${path}/later/etcd`, 'echo etcd Version: 3.6.3');
    const folders = ['missing', 'old', 'broken', '.', 'folder', 'good', 'later'].map((name) => `${path}/${name}`);
    expect(await lookUp(programs.etcd, folders)).toEqual({
      path: `${path}/good/etcd`,
      skipped: [`${path}/old/etcd is 3.4.9, 3.6 is needed`, `${path}/broken/etcd cannot be run (1)`],
    });
  });

  test('none is no error', async () => {
    expect(await lookUp(programs.etcd, ['/nowhere'])).toEqual({ skipped: [] });
  });
});
