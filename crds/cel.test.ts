import { describe, expect, test } from '@jest/globals';
import { celName, celValueOf, namesOldSelf } from './cel.ts';
import { array, integer, intOrString, map, number, object, optional, string } from './schema.ts';

describe('CEL', () => {
  test.each([
    ['port', 'port'],
    ['namespace', '__namespace__'],
    ['in', '__in__'],
    ['max-age', 'max__dash__age'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
  ])('spells the field %s as %s', (name, spelt) => {
    expect(celName(name)).toBe(spelt);
  });

  test('sees integers as integers, numbers as numbers, times as times', () => {
    const schema = object({
      count: integer(),
      ratio: number(),
      either: intOrString(),
      text: string(),
      since: string({ format: 'date-time' }),
      namespace: optional(array(integer())),
      labels: map(integer()),
    });
    const value = {
      count: 1,
      ratio: 1,
      either: 2,
      text: '3',
      since: '2026-01-02T03:04:05Z',
      namespace: [4],
      labels: { 'a.b': 5, in: 6 },
    };
    expect(celValueOf(schema.json, value)).toEqual({
      count: 1n,
      ratio: 1,
      either: 2n,
      text: '3',
      since: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
      __namespace__: [4n],
      labels: { 'a.b': 5n, in: 6n },
    });
  });

  test.each([
    ['self == oldSelf', true],
    ['oldSelf.hasValue()', true],
    ["self != 'oldSelf'", false],
    ['self != "it\'s \\"oldSelf"', false],
    ['self.oldSelfish == 1', false],
    ["self != '\\'' && self == oldSelf", true],
  ])('knows whether %s compares with the stored value', (rule, compares) => {
    expect(namesOldSelf(rule)).toBe(compares);
  });
});
