import { describe, expect, test } from '@jest/globals';
import { misuses } from '../test/misuses.ts';
import { array, conditions, immutable, integer, map, object, optional, string, withRules } from './schema.ts';
import { flawsOf } from './structural.ts';

describe('what a schema must not say', () => {
  test.each(misuses)('$what is found, with its path', ({ field, path, message }) => {
    const flaws = flawsOf(object({ field }).json, 'spec');
    expect(flaws).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test('all flaws are found at once, however deep, from the outside in', () => {
    const schema = object({
      first: optional(array(map(integer({ minimum: 2, maximum: 1 })))),
      second: object({ third: string({ pattern: '\\1', format: 'x' as 'date' }) }),
    });
    expect(flawsOf(schema.json, 'spec').map((flaw) => flaw.path)).toEqual([
      'spec.first[]{}',
      'spec.second.third',
      'spec.second.third',
    ]);
  });

  test('a string, list or map without bounds is found, should one get past the language', () => {
    const bare = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'boolean' } } },
    } as const;
    expect(flawsOf(bare, '').map((flaw) => `${flaw.path}: ${flaw.message}`)).toEqual([
      'a: a string must have a maxLength',
      'b: a list must have maxItems',
    ]);
    expect(flawsOf({ type: 'object', additionalProperties: { type: 'boolean' } }, 'm')).toEqual([
      { path: 'm', message: 'a map must have maxProperties' },
    ]);
  });
});

describe('what a schema may say', () => {
  test('entries of a list map may be immutable, and so may values of a map', () => {
    const entry = object({ name: immutable(string()), labels: optional(map(immutable(string()))) });
    expect(flawsOf(array(entry, { listType: 'map', keys: ['name'] }).json, '')).toEqual([]);
  });

  test('bounds may leave one value', () => {
    expect(
      flawsOf(object({ a: integer({ minimum: 3, maximum: 3 }), b: string({ minLength: 2, maxLength: 2 }) }).json, ''),
    ).toEqual([]);
  });

  test('a rule that says oldSelf in a text only does not compare', () => {
    expect(flawsOf(array(withRules(string(), { rule: "self != 'oldSelf'", message: 'no' })).json, '')).toEqual([]);
  });

  test('the conditions of every status are sound', () => {
    expect(flawsOf(conditions.json, 'status.conditions')).toEqual([]);
  });
});
