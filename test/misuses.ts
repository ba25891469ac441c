/** Schemas that the language can say but should not, with what is wrong and what the API server would do. */
import type { Property, Schema } from '../crds/schema.ts';
import {
  array,
  defaulted,
  enumeration,
  immutable,
  integer,
  map,
  nullable,
  number,
  object,
  optional,
  string,
  withRules,
} from '../crds/schema.ts';

export interface Misuse {
  readonly what: string;
  readonly field: Property;
  readonly path: string;
  readonly message: string;
  /** Whether the API server refuses the definition too; else it takes it, and judges as nobody means or not at all. */
  readonly server: 'refuses' | 'takes';
}

/** Where the flaw is, below the field. */
const at =
  (below: string) =>
  (what: string, field: Property, message: string, server: Misuse['server']): Misuse => ({
    what,
    field,
    path: `spec.field${below}`,
    message,
    server,
  });
const scheme = at('');

const entry = object({ name: string(), note: optional(string()), parts: array(string()) });
/** Past the compiler, as plain JavaScript or a cast would. */
const keyed = (...keys: string[]): Schema => array(entry, { listType: 'map', keys: keys as ['name'] });
const rule = (text: string, more: object = {}) => withRules(string(), { rule: text, message: 'must fit', ...more });

export const misuses: readonly Misuse[] = [
  scheme('a minimum above the maximum', integer({ minimum: 3, maximum: 2 }), 'minimum 3 is above maximum 2', 'takes'),
  scheme('a bound that is no whole number', integer({ minimum: 0.5 }), 'minimum 0.5 must be a whole number', 'takes'),
  scheme('a bound that JSON cannot carry', integer({ maximum: 2 ** 53 }), 'at most 9007199254740991', 'takes'),
  scheme('a fractional bound', number({ minimum: 0.5 }), 'minimum 0.5 is cut to 0 by the API server', 'takes'),
  scheme(
    'a minLength above the maxLength',
    string({ minLength: 3, maxLength: 2 }),
    'minLength 3 is above maxLength 2',
    'takes',
  ),
  scheme(
    'a minLength above the default maxLength',
    string({ minLength: 2000 }),
    'minLength 2000 is above maxLength 1024',
    'takes',
  ),
  scheme('a negative length', string({ minLength: -1 }), 'minLength -1 must be a whole number, 0 or more', 'takes'),
  scheme('a lookahead', string({ pattern: '^(?!x)' }), 'RE2 has no lookaround', 'refuses'),
  scheme('a backreference', string({ pattern: '(a)\\1' }), 'RE2 has no backreferences', 'refuses'),
  scheme('a pattern that is none', string({ pattern: '(a' }), 'the pattern (a cannot be used', 'refuses'),
  scheme('an unknown format', string({ format: 'colour' as 'date' }), 'does not check the format "colour"', 'takes'),
  scheme('an empty enumeration', enumeration([] as unknown as ['a']), 'an enumeration needs a value', 'takes'),
  scheme('an enumeration with a repeated value', enumeration(['a', 'b', 'a']), 'must not name a value twice', 'takes'),
  scheme('a nullable enumeration', optional(nullable(enumeration(['a']))), 'refuses null for an enumeration', 'takes'),
  scheme(
    'a minItems above the maxItems',
    array(string(), { minItems: 3, maxItems: 2 }),
    'minItems 3 is above maxItems 2',
    'takes',
  ),
  scheme(
    'a set of objects',
    array(entry as unknown as Schema<string>, { listType: 'set' }),
    'entries of a set must be scalars',
    'refuses',
  ),
  scheme(
    'a set of nullables',
    array(nullable(string()) as Schema<string>, { listType: 'set' }),
    'must not be nullable',
    'refuses',
  ),
  scheme('a list map without keys', keyed(), 'needs keys', 'refuses'),
  scheme('a list map with a repeated key', keyed('name', 'name'), 'must not repeat', 'refuses'),
  scheme(
    'a list map by a field that is not there',
    keyed('title'),
    'the key title is no field of the entries',
    'refuses',
  ),
  scheme(
    'a list map by an optional field',
    keyed('note'),
    'the key note must be required or have a default',
    'refuses',
  ),
  scheme('a list map by a list', keyed('parts'), 'the key parts must be a scalar', 'refuses'),
  scheme(
    'a minProperties above the maxProperties',
    map(string(), { minProperties: 2, maxProperties: 1 }),
    'above maxProperties 1',
    'takes',
  ),
  scheme(
    'a default out of bounds',
    defaulted(integer({ maximum: 3 }), 4),
    'should be less than or equal to 3',
    'refuses',
  ),
  scheme('a default of another type', defaulted(integer() as Schema, 'x'), 'must be of type integer', 'refuses'),
  at('.b')(
    'a default with an unknown field',
    defaulted(object({ a: integer() }), { a: 1, b: 2 } as { a: number }),
    'unknown field',
    'refuses',
  ),
  at('.a')(
    'a default without a required field',
    defaulted(object({ a: integer() }) as Schema, {}),
    'Required value',
    'refuses',
  ),
  at('[1]')(
    'a default with a repeated entry',
    defaulted(array(string(), { listType: 'set' }), ['a', 'a']),
    'Duplicate value',
    'takes',
  ),
  scheme(
    'a default of null',
    defaulted(nullable(string()), null as unknown as string),
    'a default of null is no default',
    'takes',
  ),
  scheme('a blank rule', rule(' '), 'must not be blank', 'refuses'),
  scheme('a blank message', rule('true', { message: ' ' }), 'must not be blank', 'refuses'),
  scheme('a message of two lines', rule('true', { message: 'a\nb' }), 'the message must be one line', 'refuses'),
  scheme(
    'a rule for a field that is not there',
    rule('true', { fieldPath: '.port' }),
    'fieldPath .port names no field',
    'refuses',
  ),
  scheme(
    'optionalOldSelf without oldSelf',
    rule('true', { optionalOldSelf: true }),
    'is for rules that name oldSelf',
    'refuses',
  ),
  at('[]')('an immutable entry of an atomic list', array(immutable(string())), 'cannot be told apart', 'refuses'),
  at('.web-port')('a field name in another case', object({ 'web-port': integer() }), 'must be camelCase', 'takes'),
];
