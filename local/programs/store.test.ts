import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { scratch } from '../fixtures/scratch.ts';
import { startOf, thisProcess } from '../owner.ts';
import { storeOf } from './store.ts';

const day = 24 * 60 * 60 * 1000;

describe('the store of programs', () => {
  test('lies in the cache; a finished program is found, an unfinished one is not', () => {
    using cache = scratch();
    const store = storeOf({ XDG_CACHE_HOME: cache.path });
    expect(store.folder).toMatch(new RegExp(`^${cache.path}/reprise/programs/[0-9a-f]{16}$`));
    {
      using draft = store.draft();
      writeFileSync(join(draft.folder, 'etcd'), 'program');
      writeFileSync(join(draft.folder, 'kwok'), 'half');
      expect(store.find('etcd')).toBeUndefined();
      expect(store.keep(draft, 'etcd')).toBe(join(store.folder, 'etcd'));
    }
    expect(store.find('etcd')).toBe(join(store.folder, 'etcd'));
    expect(store.find('kwok')).toBeUndefined();
    expect(readdirSync(join(cache.path, 'reprise/programs'))).toHaveLength(1);
  });

  test('a draft of a process that is gone is swept, and what still works for it is ended', async () => {
    using cache = scratch();
    const store = storeOf({ XDG_CACHE_HOME: cache.path });
    const worker = spawn('sleep', ['60']);
    const { folder } = store.draft();
    writeFileSync(join(folder, 'owner.json'), JSON.stringify({ ...thisProcess(), started: 'long ago' }));
    const working = { ...thisProcess(), pid: worker.pid!, started: startOf(worker.pid!) };
    writeFileSync(join(folder, 'worker.json'), JSON.stringify(working));
    store.sweep();
    expect(await once(worker, 'close')).toEqual([null, 'SIGINT']);
    expect(existsSync(folder)).toBe(false);
  });

  test('a draft in work is left alone', () => {
    using cache = scratch();
    const store = storeOf({ XDG_CACHE_HOME: cache.path });
    using draft = store.draft();
    store.sweep();
    expect(existsSync(draft.folder)).toBe(true);
  });

  test('programs of another version are kept for a month after their last use', () => {
    using cache = scratch();
    const store = storeOf({ XDG_CACHE_HOME: cache.path });
    const [old, own] = [join(store.folder, '../0123456789abcdef'), store.folder];
    for (const folder of [old, own]) mkdirSync(folder, { recursive: true });
    store.sweep(Date.now() + 29 * day);
    expect([existsSync(old), existsSync(own)]).toEqual([true, true]);
    store.sweep(Date.now() + 31 * day);
    expect([existsSync(old), existsSync(own)]).toEqual([false, true]);
  });

  test('a draft of another machine is left alone for a day, one without a record for a minute', () => {
    using cache = scratch();
    const store = storeOf({ XDG_CACHE_HOME: cache.path });
    const { folder: foreign } = store.draft();
    writeFileSync(join(foreign, 'owner.json'), JSON.stringify({ ...thisProcess(), place: 'elsewhere' }));
    const nameless = join(cache.path, 'reprise/programs/.draft-00');
    mkdirSync(nameless);
    const now = Date.now();
    const set = (folder: string, ageMs: number): void => utimesSync(folder, (now - ageMs) / 1000, (now - ageMs) / 1000);
    set(foreign, day - 1_000);
    set(nameless, 59_000);
    store.sweep(now);
    expect([existsSync(foreign), existsSync(nameless)]).toEqual([true, true]);
    set(foreign, day + 1_000);
    set(nameless, 61_000);
    store.sweep(now);
    expect([existsSync(foreign), existsSync(nameless)]).toEqual([false, false]);
  });
});
