import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { EchoGuard } from './echo.ts';

let clock: FakeClock;
let missing: number;
let guard: EchoGuard;

beforeEach(() => {
  clock = new FakeClock();
  missing = 0;
  guard = new EchoGuard(clock, () => (missing += 1));
});

describe('waiting for our own writes to come back', () => {
  test('is over when the stream has passed them', () => {
    guard.wrote('10', '5');
    clock.advance(9_999);
    guard.heard('10');
    clock.advance(60_000);
    expect(missing).toBe(0);
    expect(clock.waits).toEqual([]);
  });

  test('raises the alarm after 10 s, once', () => {
    guard.wrote('10', '5');
    clock.advance(10_000);
    expect(missing).toBe(1);
    clock.advance(60_000);
    expect(missing).toBe(1);
  });

  test('is not put off by further writes', () => {
    for (let version = 10; version < 20; version += 1) {
      guard.wrote(String(version), '5');
      clock.advance(1_000);
    }
    expect(missing).toBe(1);
  });

  test('is not ended by events before the write', () => {
    guard.wrote('10', '5');
    guard.heard('9');
    clock.advance(10_000);
    expect(missing).toBe(1);
  });

  test('goes on for the later writes when the first has come back', () => {
    guard.wrote('10', '5');
    clock.advance(6_000);
    guard.wrote('12', '5');
    guard.heard('11');
    clock.advance(9_999);
    expect(missing).toBe(0);
    clock.advance(1);
    expect(missing).toBe(1);
  });

  test('does not begin for a write that changed nothing, or that the stream has told of already', () => {
    guard.wrote('5', '5');
    guard.wrote('4', '5');
    guard.wrote(undefined, '5');
    expect(clock.waits).toEqual([]);
  });

  test('is forgotten on reset', () => {
    guard.wrote('10', '5');
    guard.reset();
    clock.advance(60_000);
    expect(missing).toBe(0);
  });
});
