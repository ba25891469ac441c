import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bindAddress,
  commaList,
  describeFlags,
  duration,
  Invalid,
  oneOf,
  optionalText,
  readFlags,
  wholeNumber,
  type Flag,
} from './flags.ts';

const flag = <Value>(parse: Flag<Value>['parse'], fallback: string, env: string): Flag<Value> => ({
  parse,
  default: fallback,
  env,
  placeholder: 'X',
  description: 'for the test',
});
const table = { size: flag(wholeNumber(1, 9), '5', 'SIZE'), colour: flag(oneOf(['red', 'blue']), 'red', 'COLOUR') };
const read = (argv: readonly string[], env: Record<string, string> = {}) => readFlags(table, ['help'], argv, env);

describe('reading flags', () => {
  test('prefers the argument to the environment and the environment to the default', () => {
    expect(read([]).values).toEqual({ size: 5, colour: 'red' });
    expect(read([], { SIZE: '7' }).values.size).toBe(7);
    expect(read(['--size=8'], { SIZE: '7' }).values.size).toBe(8);
    expect(read(['--size', '9'], { SIZE: '7' }).values.size).toBe(9);
  });

  test('takes an empty environment variable as absent, an empty argument as given', () => {
    expect(read([], { SIZE: '' }).values.size).toBe(5);
    expect(read(['--size=']).problems).toEqual(['--size: expected a whole number from 1 to 9, got ""']);
  });

  test('takes the last of two', () => {
    expect(read(['--size=1', '--size=2']).values.size).toBe(2);
  });

  test('reports every problem at once, each with its name, what was expected and what was got', () => {
    expect(read(['--size=10', '--sise=3', 'extra', '--colour'], {}).problems).toEqual([
      '--sise: no such flag, see --help',
      '"extra": expected only flags, see --help',
      '--colour: expected a value, got none',
      '--size: expected a whole number from 1 to 9, got "10"',
    ]);
    expect(read([], { COLOUR: 'green' }).problems).toEqual([
      'COLOUR (environment): expected one of red, blue, got "green"',
    ]);
  });

  test('knows switches, also by their letter', () => {
    expect(read(['--help']).switches).toEqual(new Set(['help']));
    expect(read(['-h']).switches).toEqual(new Set(['help']));
  });

  test('never throws, whatever is typed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('--', '-', '--size', '--__proto__=1', '--toString', '-x'))),
        (argv) => {
          const { problems, values } = read(argv);
          expect(Object.keys(values)).toEqual(['size', 'colour']);
          problems.forEach((problem) => expect(problem).not.toMatch(/undefined/));
        },
      ),
    );
    expect(read(['--constructor=1', '--__proto__=1']).problems).toHaveLength(2);
  });

  test('explains each flag with its environment variable and default', () => {
    expect(describeFlags(table)).toContain('--size X\n      for the test [SIZE, default 5]');
  });
});

describe('values of flags', () => {
  test('durations are written as in Go', () => {
    const parse = duration('0s', '24h');
    const good = { '30s': 30_000, '5m': 300_000, '1h30m': 5_400_000, '500ms': 500, '1.5s': 1500, '0': 0, '0s': 0 };
    expect(Object.fromEntries(Object.keys(good).map((text) => [text, parse(text)]))).toEqual(good);
    for (const bad of ['', '5', '-5s', '5 s', 's', '5d', '1e3s', '25h', '5s5', '.5s'])
      expect(parse(bad)).toBeInstanceOf(Invalid);
  });

  test('addresses may leave out the host, and 0 means none', () => {
    expect(bindAddress(':8080')).toEqual({ port: 8080 });
    expect(bindAddress('127.0.0.1:0')).toEqual({ host: '127.0.0.1', port: 0 });
    expect(bindAddress('[::1]:81')).toEqual({ host: '::1', port: 81 });
    expect(bindAddress('localhost:81')).toEqual({ host: 'localhost', port: 81 });
    expect(bindAddress('0')).toBeUndefined();
    for (const bad of ['', '8080', ':', ':65536', '::1:81', 'a b:1', ':8080/x', ':-1'])
      expect(bindAddress(bad)).toBeInstanceOf(Invalid);
  });

  test('lists are sorted, without duplicates and blanks; empty and * mean all', () => {
    const parse = commaList((item) => /^[a-z]+$/.test(item), 'letters');
    expect(parse(' b, a,b,')).toEqual(['a', 'b']);
    expect(parse('')).toEqual([]);
    expect(parse('*')).toEqual([]);
    expect(parse('a,*')).toBeInstanceOf(Invalid);
    expect(parse('a,B')).toBeInstanceOf(Invalid);
  });

  test('whole numbers are digits in range', () => {
    const parse = wholeNumber(1, 100);
    expect([parse('1'), parse('100')]).toEqual([1, 100]);
    for (const bad of ['0', '101', '1.5', '0x10', ' 5', '1e1', '-1', '']) expect(parse(bad)).toBeInstanceOf(Invalid);
  });

  test('optional text is absent when empty', () => {
    expect([optionalText(''), optionalText('x')]).toEqual([undefined, 'x']);
  });
});
