import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { createLog } from './log/create-log.ts';
import { crashOnStrayErrors, graceAfter, stopOnSignals } from './stop.ts';

class FakeProcess extends EventEmitter {
  readonly stderr = new EventEmitter();
}
let events: FakeProcess;
let lines: string[];
let exits: number[];
const exit = (code: number) => void exits.push(code);
const log = createLog({ level: 'info', format: 'text', write: (line) => lines.push(line.slice(13).trimEnd()) });
beforeEach(() => {
  events = new FakeProcess();
  lines = [];
  exits = [];
});

describe('a signal', () => {
  let time: number;
  beforeEach(() => void (time = 1000));
  const stopping = () => stopOnSignals(events, log, exit, () => time);

  test('asks for an end in order', () => {
    const stop = stopping();
    events.emit('SIGTERM');
    expect(stop.aborted).toBe(true);
    expect([exits, lines]).toEqual([[], ['INFO  stopping signal=SIGTERM']]);
  });

  test('ends at once when it is the second, whichever the first was', () => {
    stopping();
    events.emit('SIGTERM');
    time += 300;
    events.emit('SIGINT');
    events.emit('SIGTERM');
    expect(exits).toEqual([130, 143]);
  });

  test('that comes twice at a time, as Ctrl-C under npm does, is one', () => {
    stopping();
    events.emit('SIGINT');
    time += 299;
    events.emit('SIGINT');
    expect([exits, lines]).toEqual([[], ['INFO  stopping signal=SIGINT']]);
  });
});

describe('a stray error', () => {
  test('is logged in one line and ends the process with 1', () => {
    crashOnStrayErrors(events, log, exit);
    events.emit('unhandledRejection', new Error('nobody waited'));
    expect(exits).toEqual([1]);
    expect(lines).toEqual(['ERROR crashed because=unhandledRejection error="nobody waited"']);
  });

  test('of the log itself is not worth a crash', () => {
    crashOnStrayErrors(events, log, exit);
    events.stderr.emit('error', new Error('EPIPE'));
    expect(exits).toEqual([]);
  });
});

describe('the time to stop in order', () => {
  beforeEach(() => void jest.useFakeTimers());

  test('begins with the stop, cuts at its end, and gives up a moment later', async () => {
    const stop = new AbortController();
    using grace = graceAfter(stop.signal, 20_000);
    await jest.advanceTimersByTimeAsync(60_000);
    stop.abort();
    await jest.advanceTimersByTimeAsync(19_999);
    expect(grace.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(grace.signal.aborted).toBe(true);
    let isOver = false;
    void grace.over.then(() => (isOver = true));
    await jest.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });

  test('ends when all is done', () => {
    const stop = new AbortController();
    {
      using _grace = graceAfter(stop.signal, 20_000);
      stop.abort();
      expect(jest.getTimerCount()).toBe(1);
    }
    expect(jest.getTimerCount()).toBe(0);
  });
});
