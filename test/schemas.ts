/** Random schemas of the schema language, and random values around what a schema takes. */
import fc from 'fast-check';
import { formats } from '../crds/formats.ts';
import type { JsonSchema, Property, Rule, Schema } from '../crds/schema.ts';
import {
  array,
  boolean,
  conditions,
  defaulted,
  enumeration,
  immutable,
  integer,
  intOrString,
  map,
  nullable,
  number,
  object,
  optional,
  port,
  quantity,
  string,
  withRules,
} from '../crds/schema.ts';
import { flawsOf } from '../crds/structural.ts';
import { validate } from '../crds/validate.ts';
import { evaluateCel } from './cel.ts';

/** Patterns with texts that match and texts that nearly do. */
export const patterns: Readonly<Record<string, readonly string[]>> = {
  '^[a-z]([-a-z0-9]*[a-z0-9])?$': ['a', 'a-1', '-a', 'a-', 'A', 'a\n'],
  'a.c': ['abc', 'xa\u2028cx', 'a\nc', 'a\rc', 'a😀c', 'ac'],
  '^\\s+$': [' ', '\t\n\f\r ', '\v', '\u00a0', ''],
  '^\\S$': ['\v', '\u00a0', 'x', ' ', '😀'],
  '\\Aab\\z': ['ab', 'xab', 'ab\n'],
  '^\\x41\\x{1F600}?$': ['A', 'A😀', 'B'],
  '^\\p{Lu}\\pN*$': ['É7', 'A½', 'a', 'Ⅷ'],
  '^[\\w.\\-/]{2,4}$': ['a_b-', 'c/d.', 'a', 'abcde', 'ä1'],
  '^(?:a|b){2,3}x*?$': ['ab', 'babxx', 'a', 'abab'],
  '^(\\d{3}\\b)?$': ['', '123', '1234', '１２３'],
  '^[^\\s\\d\\]]$': [']', 'x', '1', ' ', '\v'],
  '^[+-]?\\.[a-f\\p{Greek}]$': ['+.a', '.β', '-.g', 'xa'],
};

/** Texts on both sides of each format. */
export const formatted: Readonly<Record<string, readonly string[]>> = {
  'date-time': [
    '2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05.123456789+01:00',
    '2026-01-02T03:04:05,5Z',
    '2023-02-29T00:00:00Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:04:60Z',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04Z',
    '2026-01-02 03:04:05Z',
    '0000-01-01T00:00:00+24:60',
    '',
    'T',
  ],
  date: [
    '2026-01-02',
    '2024-02-29',
    '2023-02-29',
    '1900-02-29',
    '0001-01-01',
    '2026-1-2',
    '2026-00-01',
    '2026-13-01',
    '2026-04-31',
    '',
  ],
  duration: [
    '1h30m',
    '-1.5s',
    '+.5ms',
    '1.s',
    '0',
    '1',
    '',
    '5 min',
    '2 weeks',
    'about 3 days or so',
    '3 fortnights',
    '10µs',
    '10μs',
    '7\vs',
    '9223372036854775807ns',
    '9223372036854775808ns',
    '9999999999h',
    '1h 2',
    '3 MINUTES',
    '4nanos',
  ],
  byte: ['', 'YQ==', 'YWI=', 'YWJj', 'YWJjZA', 'YQ=', '====', 'YW\n=', 'a-_='],
  uuid: [
    '123e4567-e89b-12d3-a456-426614174000',
    '123E4567E89B12D3A456426614174000',
    '123e4567-e89b12d3-a456426614174000',
    '123e4567-e89b-12d3-a456-42661417400',
    'x23e4567-e89b-12d3-a456-426614174000',
  ],
  ipv4: [
    '1.2.3.4',
    '010.02.3.4',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4.5',
    '::ffff:1.2.3.4',
    '::1',
    '1.2.3.0x4',
    '00000001.2.3.4',
    '',
  ],
  ipv6: [
    '::',
    '::1',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::1::',
    '1:2:3',
    '::ffff:1.2.3.4',
    '0001:00002::',
    '::12345',
    'fe80::1%eth0',
    '1.2.3.4',
  ],
  cidr: [
    '1.2.3.4/32',
    '1.2.3.4/33',
    '01.2.3.4/08',
    '::/0',
    '::1/128',
    '::1/129',
    '::ffff:1.2.3.4/64',
    '1.2.3.4',
    '1.2.3.4/',
    '1.2.3.4/+1',
    '/8',
  ],
  hostname: [
    'localhost',
    'a.example.com',
    'a-b',
    '-a',
    'a-',
    'a..b',
    '9lives.io',
    'a.b',
    'a.b1',
    'b\u00fccher.example',
    '\u2603.example',
    'a_b',
    'x'.repeat(63),
    'x'.repeat(64),
    '',
  ],
  'k8s-short-name': ['a', '9a', 'a-1', 'a.b', 'A', '-a', 'a-', '', 'x'.repeat(63), 'x'.repeat(64)],
  'k8s-long-name': [
    'a',
    'a.b-c.9',
    'a..b',
    '.a',
    'a.',
    'A.b',
    '',
    `${'x'.repeat(100)}.${'y'.repeat(152)}`,
    `${'x'.repeat(100)}.${'y'.repeat(153)}`,
  ],
};

/** What the API server refuses by the rule that schema.ts adds to formats, in other words than the local validator's. */
export const oddlyFormatted: Readonly<Record<string, readonly unknown[]>> = {
  'date-time': [
    '2026-01-02t03:04:05z',
    '2026-01-02T03:04:05x9Z',
    '2026-01-02T03:04:05ZTail',
    '2026-01-02T03:04:05+25:00',
    '2026-01-02T03:04:05+00:61',
    [],
  ],
  uuid: [[], ['123e4567-e89b-12d3-a456-426614174000']],
  byte: [[]],
  duration: [['1s']],
};

const texts = [
  '',
  'a',
  'b',
  'ab',
  'abc',
  'abcd',
  'A',
  'ä',
  '😀',
  'a"b\\',
  '\u0001\t',
  '<&>',
  'True',
  '1',
  '500m',
  '64Mi',
  '1.5e3',
  '.5',
  '1k5',
];
const numbers = [
  -1,
  0,
  1,
  2,
  3,
  5,
  10,
  64,
  80,
  65_535,
  65_536,
  1.5,
  -0.25,
  1e6,
  1234567.5,
  2 ** 31,
  2 ** 53,
  1e19,
  1e21,
  1e-7,
];

const names = ['alpha', 'beta', 'gammaRay', 'namespace', 'type', 'constructor', 'x1'] as const;

const pair = (max: number): fc.Arbitrary<readonly [number | undefined, number | undefined]> =>
  fc
    .tuple(fc.option(fc.nat({ max }), { nil: undefined }), fc.option(fc.nat({ max }), { nil: undefined }))
    .map(([one, other]) =>
      one !== undefined && other !== undefined
        ? ([Math.min(one, other), Math.max(one, other)] as const)
        : ([one, other] as const),
    );

/** Without the keys whose values are undefined. */
const given = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never;

const rule = (text: string): Rule => ({ rule: text, message: `must satisfy: ${text.replaceAll('"', "'")}` });

const leaves: fc.Arbitrary<Schema> = fc.oneof(
  pair(10).map(([minimum, maximum]) => integer(given({ minimum, maximum }))),
  pair(10).map(([minimum, maximum]) => number(given({ minimum, maximum }))),
  pair(5).map(([minLength, maxLength]) => string(given({ minLength, maxLength }))),
  fc.constantFrom(...Object.keys(patterns)).map((pattern) => string({ pattern, maxLength: 6 })),
  fc.constantFrom(...formats).map((format) => string({ format, maxLength: 300 })),
  fc
    .uniqueArray(fc.constantFrom(...texts), { minLength: 1, maxLength: 3 })
    .map((values) => enumeration(values as [string])),
  fc.constantFrom<Schema>(boolean(), intOrString({ maxLength: 3 }), quantity(), port(), conditions),
  fc.constantFrom<Schema>(
    withRules(integer(), rule('self < 5')),
    withRules(string({ maxLength: 4 }), rule('self != "ab"'), {
      ...rule('size(self) != 1'),
      reason: 'FieldValueForbidden',
    }),
    withRules(array(integer({ maximum: 3 }), { maxItems: 3 }), rule('self.all(x, x != 2)')),
  ),
);

/** A default that fits; a schema for which none is found by chance goes without. */
const defaultedOf = (of: Schema): fc.Arbitrary<Property> =>
  fc.array(valuesOf(of.json), { minLength: 6, maxLength: 6 }).map((candidates) => {
    const fits = candidates.find(
      (value) => value !== null && validate(of, value, { evaluate: evaluateCel }).length === 0,
    );
    return fits === undefined ? optional(of) : defaulted(of, fits);
  });

const property = (of: fc.Arbitrary<Schema>): fc.Arbitrary<Property> =>
  of.chain((schema) =>
    fc.oneof<fc.Arbitrary<Property>[]>(
      fc.constant(schema),
      fc.constant(optional(schema)),
      defaultedOf(schema),
      fc.constant(schema.json.enum ? optional(schema) : optional(nullable(schema))),
    ),
  );

const objectOf = (of: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> =>
  fc.dictionary(fc.constantFrom(...names), property(of), { maxKeys: 4 }).map((properties) => object(properties));

const isScalar = ({ json }: Schema): boolean => json.type !== 'object' && json.type !== 'array';

const listOf = (of: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> =>
  fc.tuple(of, pair(3), fc.boolean()).map(([item, [minItems, maxItems], asSet]) => {
    const bounds = given({ minItems, maxItems });
    return asSet && isScalar(item)
      ? array(item as Schema<string>, { ...bounds, listType: 'set' })
      : array(item, bounds);
  });

const listMapOf = (of: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> =>
  fc.tuple(of, fc.boolean()).map(([value, twoKeys]) => {
    const item = object({
      name: immutable(string({ maxLength: 3 })),
      port: defaulted(integer({ maximum: 3 }), 1),
      value: value.json.enum ? optional(value) : optional(nullable(value)),
    });
    return array(item, { listType: 'map', keys: twoKeys ? ['name', 'port'] : ['name'], maxItems: 4 });
  });

const mapOf = (of: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> =>
  fc
    .tuple(of, pair(3))
    .map(([value, [minProperties, maxProperties]]) => map(value, given({ minProperties, maxProperties })));

const nested: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { arbitrary: leaves, weight: 3 },
    { arbitrary: objectOf(tie('schema')), weight: 3 },
    { arbitrary: listOf(tie('schema')), weight: 1 },
    { arbitrary: listMapOf(tie('schema')), weight: 1 },
    { arbitrary: mapOf(tie('schema')), weight: 1 },
  ),
})).schema;

/** Any schema that the language can say, some levels deep, and that is sound. */
export const schemas: fc.Arbitrary<Schema> = nested.filter((schema) => flawsOf(schema.json, '').length === 0);

const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, {}, [], [null], { alpha: 1 }, ...texts, ...numbers),
);

/** Values around what the schema takes: mostly of the right shape, near its bounds, now and then something else. */
export function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { arbitrary: shaped(schema), weight: 14 },
    { arbitrary: fc.constant(null), weight: 1 },
    {
      arbitrary: schema.format === undefined ? anything : anything.filter((value) => !Array.isArray(value)),
      weight: 1,
    },
  );
}

/** A value that fits, unless none is found by chance: then nothing. */
const fittingOf = (schema: JsonSchema): fc.Arbitrary<readonly unknown[]> =>
  fc.array(valuesOf(schema), { minLength: 8, maxLength: 8 }).map((candidates) => {
    const fit = candidates.filter((value) => validate({ json: schema }, value, { evaluate: evaluateCel }).length === 0);
    return fit.slice(0, 1);
  });

/** Objects of which all fields fit but, now and then, one: else next to nothing would be taken, and little be refused alone. */
export function tamedOf({ properties = {} }: JsonSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, of]) =>
    fc.tuple(fc.nat({ max: 9 }), fittingOf(of), valuesOf(of)).map(([chance, fitting, any]) => {
      if (chance < 2) return [];
      return (chance === 2 ? [any] : fitting).map((value) => [name, value] as const);
    }),
  );
  return fc.tuple(...fields).map((entries) => Object.fromEntries<unknown>(entries.flat()));
}

function shaped(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-int-or-string']) return fc.constantFrom<unknown>(...texts, ...numbers);
  switch (schema.type ?? 'string') {
    case 'integer':
      return fc.constantFrom(...near(schema), ...near(schema), ...numbers.filter(Number.isSafeInteger));
    case 'number':
      return fc.constantFrom(...near(schema), ...near(schema), ...numbers);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 4 });
    case 'object':
      return schema.additionalProperties ? mapsOf(schema.additionalProperties) : objectsOf(schema);
    case 'string':
      return fc.constantFrom(...textsOf(schema));
  }
}

const near = ({ minimum = 0, maximum = 3 }: JsonSchema): number[] => [
  minimum - 1,
  minimum,
  minimum + 1,
  maximum - 1,
  maximum,
  maximum + 1,
];

const textsOf = (schema: JsonSchema): readonly string[] =>
  schema.enum
    ? [...schema.enum, ...schema.enum, ...texts]
    : (patterns[schema.pattern ?? ''] ?? formatted[schema.format ?? ''] ?? texts);

const mapsOf = (values: JsonSchema): fc.Arbitrary<unknown> =>
  fc.dictionary(fc.constantFrom('a', 'b', 'a.b', 'a[0]', 'constructor', ''), valuesOf(values), { maxKeys: 4 });

function objectsOf({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, of]) =>
    fc
      .tuple(fc.constant(name), valuesOf(of), fc.nat({ max: 99 }))
      .map(([key, value, chance]) => (chance < (required.includes(key) ? 95 : 60) ? [[key, value] as const] : [])),
  );
  const unknown = fc.nat({ max: 99 }).map((chance) => (chance < 1 ? [['unheardOf', 1] as const] : []));
  return fc.tuple(...fields, unknown).map((entries) => Object.fromEntries<unknown>(entries.flat()));
}
