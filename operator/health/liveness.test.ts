import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { watchIsAlive } from './liveness.ts';

const minute = 60_000;
function watched() {
  const clock = new FakeClock();
  const health: { lastActivityMs: number | undefined; failures: number } = { lastActivityMs: undefined, failures: 0 };
  return { clock, health, check: watchIsAlive('watch-pods', () => health, clock) };
}

describe('a watch', () => {
  test('is alive at the start', () => {
    const { check, clock } = watched();
    expect(check.problem()).toBeUndefined();
    clock.advance(5 * minute);
    expect(check.problem()).toBeUndefined();
  });

  test('is alive as long as something is heard, however long it runs', () => {
    const { check, clock, health } = watched();
    health.lastActivityMs = 59_000;
    clock.advance(600 * minute);
    expect(check.problem()).toBeUndefined();
  });

  test('is alive as long as it keeps trying, also when nobody asks for long', () => {
    const { check, clock, health } = watched();
    for (let hour = 1; hour <= 10; hour++) {
      clock.advance(60 * minute);
      health.failures = hour;
      health.lastActivityMs = hour * 60 * minute;
      expect(check.problem()).toBeUndefined();
    }
  });

  test('is dead when it neither hears nor tries for more than five minutes', () => {
    const { check, clock, health } = watched();
    health.failures = 3;
    expect(check.problem()).toBeUndefined();
    clock.advance(5 * minute + 1000);
    expect(check.problem()).toBe('no sign of life for 301 s');
  });

  test('comes back to life', () => {
    const { check, clock, health } = watched();
    clock.advance(10 * minute);
    expect(check.problem()).toBeDefined();
    health.lastActivityMs = 1000;
    expect(check.problem()).toBeUndefined();
  });
});
