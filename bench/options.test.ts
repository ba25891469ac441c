import { describe, expect, test } from '@jest/globals';
import { benchOptions, UsageError } from './options.ts';

describe('the flags of the bench', () => {
  test('have defaults', () => {
    expect(benchOptions([])).toEqual({ n: 1000, concurrency: 10, rounds: 1, out: undefined });
  });

  test('are read in both spellings', () => {
    expect(benchOptions(['--n', '20', '--concurrency=4', '--rounds', '3', '--out', 'x.json'])).toEqual({
      n: 20,
      concurrency: 4,
      rounds: 3,
      out: 'x.json',
    });
  });

  test('ask for help', () => {
    expect(benchOptions(['--help'])).toBeUndefined();
    expect(benchOptions(['-h', '--n=3'])).toBeUndefined();
  });

  test.each([
    [['--n', '0'], '--n: expected a whole number from 1 to 100000, got "0"'],
    [['--n=ten'], '--n: expected a whole number from 1 to 100000, got "ten"'],
    [['--concurrency=1001'], '--concurrency: expected a whole number from 1 to 1000, got "1001"'],
    [['--rounds=1.5'], '--rounds: expected a whole number from 1 to 100, got "1.5"'],
    [['--out='], '--out: got an empty path, expected one of a file to write'],
    [['--fast'], "Unknown option '--fast'; see npm run bench -- --help"],
  ])('%j get one line that says what is wrong', (args, message) => {
    expect(() => benchOptions(args)).toThrow(UsageError);
    expect(() => benchOptions(args)).toThrow(message);
  });
});
