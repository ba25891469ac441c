import { describe, expect, test } from '@jest/globals';
import { startOptions, UsageError } from './start-options.ts';

describe('the flags of npm start', () => {
  test('default to a local control plane that stays up until Ctrl-C', () => {
    expect(startOptions([])).toEqual({ context: undefined, once: false, yes: false, timeoutMs: 120_000 });
  });
  test('choose a context, one pass, no question and another limit', () => {
    expect(startOptions(['--context', 'kind', '--once', '--yes', '--timeout=7'])).toEqual({
      context: 'kind',
      once: true,
      yes: true,
      timeoutMs: 7000,
    });
  });
  test('ask for help', () => {
    expect(startOptions(['--help'])).toBeUndefined();
  });
  test.each([
    [['--onec'], /Unknown option '--onec'/],
    [['now'], /Unexpected argument 'now'/],
    [['--timeout', '0'], /--timeout: got "0", expected a number of seconds above 0/],
    [['--timeout', 'soon'], /--timeout: got "soon"/],
    [['--context', ''], /--context: got an empty name/],
    [['--context'], /--context/],
  ])('%j is refused in one line', (args, message) => {
    expect(() => startOptions(args)).toThrow(UsageError);
    expect(() => startOptions(args)).toThrow(message);
    try {
      startOptions(args);
    } catch (error) {
      expect((error as Error).message).not.toContain('\n');
    }
  });
});
