import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateCel } from '../test/cel.ts';
import { schemas, tamedOf, valuesOf } from '../test/schemas.ts';
import { comparing, stored, updates } from '../test/updates.ts';
import type { Property } from './schema.ts';
import {
  array,
  defaulted,
  enumeration,
  integer,
  intOrString,
  map,
  nullable,
  number,
  object,
  optional,
  string,
  withRules,
} from './schema.ts';
import { validate, withDefaults } from './validate.ts';

const linesOf = (schema: Property, value: unknown): readonly string[] =>
  validate(schema, value, { path: 'spec' }).map((one) => `${one.path}: ${one.message}`);

describe('problems are worded as the API server words them', () => {
  const pair = object({ key: string(), value: optional(integer()) });

  test.each<[what: string, schema: Property, value: unknown, lines: string[]]>([
    [
      'a number above its maximum',
      object({ replicas: integer({ minimum: 1, maximum: 10 }) }),
      { replicas: 11 },
      ['spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10'],
    ],
    [
      'a number below its minimum',
      number({ minimum: 1_000_000 }),
      1.5,
      ['spec: Invalid value: 1.5: spec in body should be greater than or equal to 1e+06'],
    ],
    [
      'a string for an integer',
      integer({ minimum: 1, maximum: 9 }),
      'x',
      ['spec: Invalid value: "string": spec in body must be of type integer: "string"'],
    ],
    [
      'a fraction for an integer',
      integer({ minimum: 1, maximum: 9 }),
      1.5,
      ['spec: Invalid value: "float64": spec in body must be of type int32: "float64"'],
    ],
    ['a missing field', object({ name: string() }), {}, ['spec.name: Required value']],
    ['null for a required field', object({ name: string() }), { name: null }, ['spec.name: Required value']],
    [
      'null in a list',
      array(integer()),
      [1, null],
      ['spec[1]: Invalid value: "null": spec[1] in body must be of type integer: "null"'],
    ],
    [
      'a word that is no choice',
      enumeration(['a', 'b']),
      'c',
      ['spec: Unsupported value: "c": supported values: "a", "b"'],
    ],
    ['a text that is too long', string({ maxLength: 3 }), '1234', ['spec: Too long: may not be more than 3 bytes']],
    [
      'a text that is too short',
      string({ minLength: 2 }),
      '😀',
      ['spec: Invalid value: "😀": spec in body should be at least 2 chars long'],
    ],
    [
      'a text beside its pattern',
      string({ pattern: '^[a-z]+$' }),
      'A"\n',
      ['spec: Invalid value: "A\\"\\n": spec in body should match \'^[a-z]+$\''],
    ],
    [
      'a text beside its format',
      string({ format: 'date-time' }),
      'now',
      ['spec: Invalid value: "now": spec in body must be of type date-time: "now"'],
    ],
    [
      'a list that is too long',
      array(integer(), { maxItems: 1 }),
      [1, 2],
      ['spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'a list that is too short',
      array(integer(), { minItems: 1 }),
      [],
      ['spec: Invalid value: 0: spec in body should have at least 1 items'],
    ],
    [
      'a map that is too big',
      map(integer(), { maxProperties: 1 }),
      { a: 1, b: 2 },
      ['spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'a repeated entry of a set',
      array(string(), { listType: 'set' }),
      ['a', 'b', 'a', 'a'],
      ['spec[2]: Duplicate value: "a"'],
    ],
    [
      'a repeated key',
      array(pair, { listType: 'map', keys: ['key'] }),
      [{ key: 'a' }, { key: 'a', value: 1 }],
      ['spec[1]: Duplicate value: {"key":"a"}'],
    ],
    [
      'an unknown field',
      object({ name: string() }),
      { name: 'a', nmae: 'b' },
      ['spec.nmae: unknown field "spec.nmae"'],
    ],
    [
      'neither number nor string',
      intOrString(),
      true,
      [
        'spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"',
        'spec: Invalid value: "boolean": spec in body must be of type integer: "boolean"',
      ],
    ],
  ])('%s', (_what, schema, value, lines) => {
    expect(linesOf(schema, value)).toEqual(lines);
  });

  test('reasons are those of the answer, for programs', () => {
    const schema = object({ a: integer(), b: optional(string({ maxLength: 1 })), c: optional(enumeration(['x'])) });
    expect(validate(schema, { b: 'xx', c: 'y' }).map((one) => [one.path, one.reason])).toEqual([
      ['b', 'FieldValueTooLong'],
      ['c', 'FieldValueNotSupported'],
      ['a', 'FieldValueRequired'],
    ]);
  });
});

describe('oddities of the API server that are kept', () => {
  test('an emoji is one character', () => {
    expect(linesOf(string({ maxLength: 2 }), '😀😀')).toEqual([]);
  });

  test('null for an optional field is no field, null for a defaulted one is the default', () => {
    const schema = object({
      a: optional(string({ minLength: 1 })),
      b: defaulted(integer({ minimum: 1 }), 7),
      c: optional(nullable(string())),
    });
    expect(linesOf(schema, { a: null, b: null, c: null })).toEqual([]);
    expect(withDefaults(schema, { c: null })).toEqual({ b: 7, c: null });
    expect(withDefaults(schema as Property, { a: null, b: null })).toEqual({ b: 7 });
  });

  test('a null in a map is dropped before entries are counted', () => {
    expect(linesOf(map(integer(), { minProperties: 1 }), { a: null })).toEqual([
      'spec: Invalid value: 0: spec in body should have at least 1 properties',
    ]);
  });

  test('a whole number is compared with a bound cut to a whole number, a fraction with the bound itself', () => {
    const schema = number({ minimum: 0.5, maximum: 2.5 });
    expect([0, 1, 2].flatMap((value) => linesOf(schema, value))).toEqual([]);
    expect(linesOf(schema, 3)).toEqual(['spec: Invalid value: 3: spec in body should be less than or equal to 2']);
    expect(linesOf(schema, 0.4)).toEqual([
      'spec: Invalid value: 0.4: spec in body should be greater than or equal to 0.5',
    ]);
  });

  test('names that JavaScript objects inherit are ordinary names', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2, "toString": "x"}') as unknown;
    expect(linesOf(object({ a: optional(integer()) }), hostile)).toEqual([
      'spec.__proto__: unknown field "spec.__proto__"',
      'spec.constructor: unknown field "spec.constructor"',
      'spec.toString: unknown field "spec.toString"',
    ]);
    expect(linesOf(map(string()), hostile)).toEqual([
      'spec.__proto__.polluted: unknown field "spec.__proto__.polluted"',
      'spec.__proto__: Invalid value: "object": spec.__proto__ in body must be of type string: "object"',
      'spec.constructor: Invalid value: "integer": spec.constructor in body must be of type string: "integer"',
    ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('CEL rules', () => {
  test.each(updates)('on update: $what', ({ spec, problems }) => {
    const value = JSON.parse(JSON.stringify(spec)) as unknown;
    const found = validate(comparing, value, { path: 'spec', old: stored, evaluate: evaluateCel });
    expect(found.map((one) => `${one.path}: ${one.message}`)).toEqual(problems);
  });

  test('on creation, rules that compare are silent, but for an optional oldSelf', () => {
    const found = validate(comparing, { size: 1, zone: 'a', phase: 'Done' }, { evaluate: evaluateCel });
    expect(found).toEqual([
      { path: 'phase', message: 'Forbidden: begins as New, and is New only once', reason: 'FieldValueForbidden' },
    ]);
  });

  test('without an engine no rule is judged', () => {
    expect(validate(comparing, { size: 1000 })).toEqual([]);
  });

  test('null is not judged by the rules of its own schema', () => {
    const schema = object({ a: nullable(withRules(integer(), { rule: 'self < 5', message: 'few' })) });
    expect(validate(schema, { a: null }, { evaluate: evaluateCel })).toEqual([]);
    expect(validate(schema, { a: 5 }, { evaluate: evaluateCel })).toHaveLength(1);
  });

  test('a rule that fails says so, with its message', () => {
    const schema = withRules(map(integer()), { rule: "self['a'] > 0", message: 'a must be there' });
    const [problem] = validate(schema, {}, { path: 'spec', evaluate: evaluateCel });
    expect(problem?.message).toMatch(/^Invalid value: "object": .* evaluating rule: a must be there$/s);
  });

  test('rules see fields with names that CEL reserves', () => {
    const schema = object(
      { namespace: string(), in: integer() },
      { rules: [{ rule: 'self.__namespace__ == "a" && self.__in__ == 1', message: 'no' }] },
    );
    expect(validate(schema, { namespace: 'a', in: 1 }, { evaluate: evaluateCel })).toEqual([]);
    expect(validate(schema, { namespace: 'b', in: 1 }, { evaluate: evaluateCel })).toHaveLength(1);
  });
});

describe('for any schema and value', () => {
  const pairs = schemas.chain((schema) =>
    fc.tuple(fc.constant(schema), fc.oneof(valuesOf(schema.json), tamedOf(schema.json))),
  );

  test('filling in defaults twice is filling them in once, and leaves the value alone', () => {
    fc.assert(
      fc.property(pairs, ([schema, value]) => {
        const before = JSON.stringify(value);
        const once = withDefaults(schema, value);
        expect(withDefaults(schema, once)).toEqual(once);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });

  test('what is stored is judged as what was written', () => {
    fc.assert(
      fc.property(pairs, ([schema, value]) => {
        expect(validate(schema, withDefaults(schema, value))).toEqual(validate(schema, value));
      }),
    );
  });
});
