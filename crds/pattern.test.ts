import { describe, expect, test } from '@jest/globals';
import { compilePattern } from './pattern.ts';

describe('patterns that RE2 and JavaScript share', () => {
  test.each([
    ['^[a-z]([-a-z0-9]*[a-z0-9])?$', ['a', 'a-1'], ['', '-a', 'a-', 'A']],
    ['a.c', ['abc', 'a\u2028c', 'a\rc'], ['a\nc', 'ac']],
    ['^\\s$', [' ', '\t', '\n', '\f', '\r'], ['\v', '\u00a0', '\u2003']],
    ['^\\S$', ['\v', '\u00a0', 'x'], [' ', '\n']],
    ['\\Aab\\z', ['ab'], ['xab', 'ab\n']],
    ['^a$', ['a'], ['a\n']],
    ['^\\x41\\x{1F600}$', ['A\u{1F600}'], ['A']],
    ['^.$', ['\u{1F600}', 'é'], ['', 'ab']],
    ['^\\p{Lu}\\pN$', ['É7', 'A½'], ['a7', 'AA']],
    ['^\\p{Greek}+$', ['αβγ'], ['abc']],
    ['^[\\w.\\-/]+$', ['a_b-c/d.e'], ['ä', 'a b']],
    ['^[\\s]$', ['\t'], ['\v']],
    ['^(?:a|b){2,3}$', ['ab', 'bab'], ['a', 'abab']],
    ['^\\-\\/\\_\\ \\@$', ['-/_ @'], ['-/_@']],
    ['^x]}$', ['x]}'], ['x']],
    ['^\\d{3}\\b', ['123', '123-'], ['1234', '１２３']],
    ['^[a\\]b]$', [']'], ['\\']],
    ['', ['', 'anything'], []],
  ])('%s matches what RE2 matches', (pattern, matching, others) => {
    const expression = compilePattern(pattern);
    expect(matching.filter((text) => !expression.test(text))).toEqual([]);
    expect(others.filter((text) => expression.test(text))).toEqual([]);
  });
});

describe('patterns that are refused', () => {
  test.each([
    ['^(?=a)', 'RE2 has no lookaround'],
    ['(?!a)b', 'RE2 has no lookaround'],
    ['(?<=a)b', 'RE2 has no lookaround'],
    ['(a)\\1', 'RE2 has no backreferences: \\1'],
    ['(?i)abc', 'flags and named groups'],
    ['(?<year>\\d+)', 'flags and named groups'],
    ['[[:alpha:]]', 'write [A-Za-z]'],
    ['[]a]', 'write \\] for the sign itself'],
    ['[a', '] is missing'],
    ['a{', 'write \\{ for the sign itself'],
    ['a{,3}', 'write \\{ for the sign itself'],
    ['a{1001}', 'at most 1000 times'],
    ['((a{10}){11}b){10}', 'at most 1000 times'],
    ['a\\', 'ends with a backslash'],
    ['\\Qa\\E', '\\Q is not used here'],
    ['[\\b]', '\\b in a class'],
    ['\\p{Cn}', 'category Cn'],
    ['a**', 'Nothing to repeat'],
    ['(a', 'Unterminated group'],
    ['a)', 'Unmatched'],
    ['[b-a]', 'out of order'],
    ['a{3,2}', 'out of order'],
  ])('%s, with the reason', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason);
  });

  test('nested repetitions within the bound are taken', () => {
    expect(compilePattern('^((a{10}){10}b){10}$').test('aaaa')).toBe(false);
  });
});
