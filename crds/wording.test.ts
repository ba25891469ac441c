import { describe, expect, test } from '@jest/globals';
import { isInt64, printed, printedFloat, quoted } from './wording.ts';

describe('values are printed as Go prints them', () => {
  test.each([
    ['plain', '"plain"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u0001\t\n\u007f', '"\\x01\\t\\n\\x7f"'],
    ['ä😀 ½', '"ä😀 ½"'],
    ['\u00a0\u2028\u00ad', '"\\u00a0\\u2028\\u00ad"'],
    ['\u{e0001}', '"\\U000e0001"'],
  ])('the text %j', (text, expected) => {
    expect(quoted(text)).toBe(expected);
  });

  test.each([
    [1.5, '1.5'],
    [1e6, '1e+06'],
    [123456, '123456'],
    [1234567.5, '1.2345675e+06'],
    [1e21, '1e+21'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-2.5e-7, '-2.5e-07'],
  ])('the floating-point number %d', (value, expected) => {
    expect(printedFloat(value)).toBe(expected);
  });

  test('objects as JSON with sorted keys, integers without exponents, null as null', () => {
    expect(printed({ b: [1, 'x<y'], a: null })).toBe('{"a":null,"b":[1,"x\\u003cy"]}');
    expect(printed(10_000_000_000)).toBe('10000000000');
    expect(printed(1e21)).toBe('1e+21');
    expect(printed(true)).toBe('true');
  });

  test('64 bits is where integers end', () => {
    expect([2 ** 53, -(2 ** 62), 0].map(isInt64)).toEqual([true, true, true]);
    expect([2 ** 63, 1.5, '1', null].map(isInt64)).toEqual([false, false, false, false]);
  });
});
