import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { Interrupted, onInterrupt } from './interrupt.ts';

// What a signal does without being sent: the listeners are called as Node calls them.
const send = (signal: 'SIGINT' | 'SIGTERM'): boolean => process.emit(signal, signal);

afterEach(() => {
  jest.restoreAllMocks();
});

describe('an interruption', () => {
  test('aborts with its reason, whose exit code is the one that shells expect', () => {
    using interrupt = onInterrupt();
    expect(interrupt.signal.aborted).toBe(false);
    send('SIGTERM');
    expect(interrupt.signal.reason).toBeInstanceOf(Interrupted);
    expect(interrupt.signal.reason).toMatchObject({ message: 'Interrupted by SIGTERM', exitCode: 143 });
  });

  test('the same one passed on by npm counts once; a second one ends at once', () => {
    let now = 1_000;
    const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    using _interrupt = onInterrupt(() => now);
    send('SIGINT');
    now += 200;
    send('SIGINT');
    expect(exit).not.toHaveBeenCalled();
    now += 200;
    send('SIGINT');
    expect(exit).toHaveBeenCalledWith(130);
  });

  test('after it is disposed of, signals are left to others', () => {
    const before = process.listenerCount('SIGINT');
    {
      using _interrupt = onInterrupt();
      expect(process.listenerCount('SIGINT')).toBe(before + 1);
    }
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});
