import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { unlessAborted, waitFor } from './wait.ts';

const over = new Error('over');

describe('waiting', () => {
  test('ends with its time, and leaves nothing', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const waiting = waitFor(clock, 1000, signal);
    clock.advance(1000);
    await waiting;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends with the signal, and leaves nothing, also when it came before', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const waiting = waitFor(clock, 1000, stop.signal);
    stop.abort(over);
    await expect(waiting).rejects.toBe(over);
    await expect(waitFor(clock, 1000, stop.signal)).rejects.toBe(over);
    expect(clock.waits).toEqual([]);
  });
});

describe('a promise that is waited for unless a signal comes', () => {
  test('gives what it gives', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(Promise.resolve(7), signal)).resolves.toBe(7);
    await expect(unlessAborted(Promise.reject(over), signal)).rejects.toBe(over);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('is given up when the signal comes, or has come', async () => {
    const stop = new AbortController();
    const never = new Promise<never>(() => undefined);
    const waiting = unlessAborted(never, stop.signal);
    stop.abort(over);
    await expect(waiting).rejects.toBe(over);
    await expect(unlessAborted(never, stop.signal)).rejects.toBe(over);
  });
});
