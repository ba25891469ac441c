import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { CredentialCache, type Credentials } from './connection.ts';

/** A source that counts, and that is told what to give. */
class Source {
  loads: boolean[] = [];
  next: Credentials | Error = { authorization: 'first', tls: { ca: 'ca' } };

  readonly load = (fresh: boolean): Promise<Credentials> => {
    this.loads.push(fresh);
    return this.next instanceof Error ? Promise.reject(this.next) : Promise.resolve(structuredClone(this.next));
  };
}

const setUp = () => {
  const clock = new FakeClock();
  const source = new Source();
  return { clock, source, cache: new CredentialCache(source.load, clock, 60_000) };
};

describe('cached credentials', () => {
  test('are loaded once for many that wait, and kept for their time', async () => {
    const { clock, source, cache } = setUp();
    await Promise.all([cache.get(), cache.get(), cache.get()]);
    clock.advance(59_999);
    await cache.get();
    expect(source.loads).toEqual([false]);
    clock.advance(1);
    await cache.get();
    expect(source.loads).toEqual([false, false]);
  });

  test('are the same object while nothing changed, so that connections are kept', async () => {
    const { clock, cache } = setUp();
    const first = await cache.get();
    clock.advance(60_000);
    expect(await cache.get()).toBe(first);
  });

  test('with a new token keep the TLS part', async () => {
    const { clock, source, cache } = setUp();
    const first = await cache.get();
    source.next = { authorization: 'second', tls: { ca: 'ca' } };
    clock.advance(60_000);
    const second = await cache.get();
    expect(second.authorization).toBe('second');
    expect(second.tls).toBe(first.tls);
  });

  test('stay in use while they cannot be loaded', async () => {
    const { clock, source, cache } = setUp();
    const first = await cache.get();
    source.next = new Error('no such file');
    clock.advance(60_000);
    expect(await cache.get()).toBe(first);
  });

  test('that never could be loaded are an error, each time anew', async () => {
    const { source, cache } = setUp();
    source.next = new Error('no such file');
    await expect(cache.get()).rejects.toThrow('no such file');
    await expect(cache.get()).rejects.toThrow('no such file');
    expect(source.loads).toHaveLength(2);
  });

  test('that were refused are loaded afresh, once for all who were refused', async () => {
    const { clock, source, cache } = setUp();
    const refused = await cache.get();
    clock.advance(10_000);
    source.next = { authorization: 'second', tls: {} };
    const renewed = await Promise.all([cache.renew(refused), cache.renew(refused)]);
    expect(renewed.map(({ authorization }) => authorization)).toEqual(['second', 'second']);
    expect(await cache.renew(refused)).toBe(renewed[0]);
    expect(source.loads).toEqual([false, true]);
  });

  test('that go on being refused are not loaded for each request', async () => {
    const { clock, source, cache } = setUp();
    const refused = await cache.get();
    clock.advance(10_000);
    for (let i = 0; i < 100; i += 1) expect(await cache.renew(refused)).toBe(refused);
    expect(source.loads).toHaveLength(2);
    clock.advance(5_000);
    await cache.renew(refused);
    expect(source.loads).toHaveLength(3);
  });
});
