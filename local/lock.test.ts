import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';

import { recorded, scratch } from './fixtures/scratch.ts';
import { thisProcess } from './owner.ts';
import { silent } from './progress.ts';
import { withLock } from './lock.ts';

const what = 'gets the programs';
/** Some other process. */
const holder = { ...thisProcess(), pid: 4242 };

describe('the lock', () => {
  test('is held during the work and gone after it, also when the work throws', async () => {
    using folder = scratch();
    const path = `${folder.path}/deep/lock`;
    const held = await withLock(path, { what, progress: silent }, async (progress) => {
      progress.update('1 of 2');
      return Promise.resolve([readFileSync(path, 'utf8'), readFileSync(`${path}.progress`, 'utf8')]);
    });
    expect(held).toEqual([JSON.stringify(thisProcess()), '1 of 2']);
    await expect(withLock(path, { what, progress: silent }, () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    expect(readdirSync(`${folder.path}/deep`)).toEqual([]);
  });

  test('one works at a time; the other waits, says so, and sees how far it is', async () => {
    using folder = scratch();
    const path = `${folder.path}/lock`;
    const order: string[] = [];
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<undefined>();
    const first = withLock(path, { what, progress: silent }, async (progress) => {
      order.push('first begins');
      progress.update('812 of 2,341 packages');
      await mayEnd;
      order.push('first ends');
    });
    const waiting = recorded();
    const second = withLock(
      path,
      {
        what,
        progress: {
          say: (line) => waiting.say(line),
          update(line) {
            waiting.update(line);
            end(undefined);
          },
        },
        pollMs: 1,
      },
      () => Promise.resolve(order.push('second')),
    );
    await Promise.all([first, second]);
    expect(order).toEqual(['first begins', 'first ends', 'second']);
    expect(waiting.said).toEqual([`Another process (${process.pid}) gets the programs: waiting for it`]);
    expect(new Set(waiting.updates)).toEqual(new Set(['812 of 2,341 packages']));
  });

  test('of a holder that is gone is taken over', async () => {
    using folder = scratch();
    const path = `${folder.path}/lock`;
    writeFileSync(path, JSON.stringify({ ...holder, started: 'long ago' }));
    expect(await withLock(path, { what, progress: silent }, () => Promise.resolve('done'))).toBe('done');
  });

  test('of a holder in another container is taken over after a minute of silence, not before', async () => {
    using folder = scratch();
    const path = `${folder.path}/lock`;
    writeFileSync(path, JSON.stringify({ ...holder, place: 'elsewhere' }));
    writeFileSync(`${path}.progress`, '1 of 2');
    utimesSync(path, 1_000, 1_000);
    utimesSync(`${path}.progress`, 2_000, 2_000);
    const times = [2_050_000, 2_059_000, 2_061_000];
    const clock = (): number => times.shift() ?? NaN;
    const { said, ...progress } = recorded();
    expect(await withLock(path, { what, progress, now: clock, pollMs: 1 }, () => Promise.resolve('done'))).toBe('done');
    expect(times).toEqual([]);
    expect(said).toHaveLength(1);
  });

  test('waiting for it can be interrupted', async () => {
    using folder = scratch();
    const path = `${folder.path}/lock`;
    writeFileSync(path, JSON.stringify(thisProcess()));
    const abort = new AbortController();
    const reason = new Error('Ctrl-C');
    const progress = { say: () => abort.abort(reason), update: () => undefined };
    const never = (): Promise<never> => Promise.reject(new Error('has the lock'));
    await expect(withLock(path, { what, progress, signal: abort.signal, pollMs: 1 }, never)).rejects.toThrow();
    expect(existsSync(path)).toBe(true);
  });

  test('that was taken over meanwhile is not let go', async () => {
    using folder = scratch();
    const path = `${folder.path}/lock`;
    await withLock(path, { what, progress: silent }, () => {
      rmSync(path);
      writeFileSync(path, JSON.stringify(holder));
      return Promise.resolve();
    });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(holder);
  });
});
