/* eslint-disable @typescript-eslint/no-unused-vars, @typescript-eslint/consistent-type-imports, @typescript-eslint/no-unnecessary-type-parameters -- schemas stand here for their types */
/** The types are half of the language: what tsc accepts here, and what it refuses (@ts-expect-error), is tested by type-checking. */
import { describe, expect, test } from '@jest/globals';
import type { Condition } from '../charts/resource.ts';
import type { Infer, Input } from './schema.ts';
import {
  array,
  boolean,
  conditions,
  defaulted,
  described,
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
} from './schema.ts';

/** True for one and the same type only: neither wider nor narrower, nor different in readonly or optional. */
type Equal<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

/** Compiles only where the verdict is true; so the test is tsc's, and jest runs it for the record. */
const proven = <_Verdict extends true>(): boolean => true;

type Plain<T> = { [Name in keyof T]: T[Name] };

const deep = object({
  replicas: integer({ minimum: 1, maximum: 10 }),
  image: defaulted(string(), 'nginx:latest'),
  mode: defaulted(enumeration(['Fast', 'Safe']), 'Safe'),
  weight: optional(number()),
  paused: defaulted(boolean(), false),
  note: optional(nullable(string())),
  target: optional(intOrString()),
  memory: defaulted(quantity(), '64Mi'),
  probe: defaulted(object({ path: defaulted(string(), '/'), port: optional(port()) }), {}),
  hosts: optional(
    array(object({ name: string(), tls: defaulted(boolean(), true) }), { listType: 'map', keys: ['name'] }),
  ),
  labels: map(nullable(map(integer()))),
});

describe('the types of a schema', () => {
  test('as stored: defaults are there, only the optional may be missing, all of it readonly and exact', () => {
    interface Stored {
      readonly replicas: number;
      readonly image: string;
      readonly mode: 'Fast' | 'Safe';
      readonly paused: boolean;
      readonly memory: string | number;
      readonly probe: { readonly path: string; readonly port?: number };
      readonly labels: Readonly<Record<string, Readonly<Record<string, number>> | null>>;
      readonly weight?: number;
      readonly note?: string | null;
      readonly target?: string | number;
      readonly hosts?: readonly { readonly name: string; readonly tls: boolean }[];
    }
    expect(proven<Equal<Infer<typeof deep>, Plain<Stored>>>()).toBe(true);
  });

  test('as written: what has a default may be left out, also inside', () => {
    interface Written {
      readonly replicas: number;
      readonly labels: Readonly<Record<string, Readonly<Record<string, number>> | null>>;
      readonly image?: string;
      readonly mode?: 'Fast' | 'Safe';
      readonly paused?: boolean;
      readonly memory?: string | number;
      readonly probe?: { readonly path?: string; readonly port?: number };
      readonly weight?: number;
      readonly note?: string | null;
      readonly target?: string | number;
      readonly hosts?: readonly { readonly name: string; readonly tls?: boolean }[];
    }
    expect(proven<Equal<Input<typeof deep>, Plain<Written>>>()).toBe(true);
  });

  test('each builder gives its own type', () => {
    const text = string();
    const word = enumeration(['a', 'b']);
    const either = nullable(intOrString());
    const list = array(integer());
    const scores = map(number());
    const wrapped = withRules(described(immutable(word), 'x'), { rule: 'true', message: 'm' });
    expect(proven<Equal<Infer<typeof text>, string>>()).toBe(true);
    expect(proven<Equal<Infer<typeof word>, 'a' | 'b'>>()).toBe(true);
    expect(proven<Equal<Infer<typeof either>, string | number | null>>()).toBe(true);
    expect(proven<Equal<Infer<typeof list>, readonly number[]>>()).toBe(true);
    expect(proven<Equal<Input<typeof scores>, Readonly<Record<string, number>>>>()).toBe(true);
    expect(proven<Equal<typeof wrapped, typeof word>>()).toBe(true);
    expect(proven<Equal<Infer<typeof conditions>, readonly Condition[]>>()).toBe(true);
  });

  test('an object of nothing but defaults may be left empty', () => {
    const all = object({ a: defaulted(integer(), 1), b: optional(string()) });
    const input: Input<typeof all> = {};
    expect(input).toEqual({});
    expect(proven<Equal<Infer<typeof all>, { readonly a: number; readonly b?: string }>>()).toBe(true);
  });
});

describe('what the compiler refuses', () => {
  test('values that do not fit where they stand', () => {
    const refusals = (): unknown[] => [
      // @ts-expect-error -- a default of another type
      defaulted(integer(), 'x'),
      // @ts-expect-error -- a default outside of the enumeration
      defaulted(enumeration(['a', 'b']), 'c'),
      // @ts-expect-error -- a default without a required field
      defaulted(object({ a: integer() }), {}),
      // @ts-expect-error -- null is no default
      defaulted(nullable(string()), null),
      // @ts-expect-error -- optional or defaulted, not both
      defaulted(optional(string()), 'x'),
      // @ts-expect-error -- optional is for properties, not for entries
      array(optional(string())),
      // @ts-expect-error -- a default is for properties, not for values of a map
      map(defaulted(string(), 'x')),
      // @ts-expect-error -- an enumeration of nothing
      enumeration([]),
      // @ts-expect-error -- a format that the API server does not know
      string({ format: 'colour' }),
      // @ts-expect-error -- a rule without a text for the user
      withRules(string(), { rule: 'true' }),
      // @ts-expect-error -- a reason that Kubernetes does not know
      withRules(string(), { rule: 'true', message: 'm', reason: 'Bad' }),
    ];
    expect(refusals).toBeInstanceOf(Function);
  });

  test('list types that the entries cannot have', () => {
    const entry = object({
      name: string(),
      note: optional(string()),
      parts: array(string()),
      age: defaulted(integer(), 1),
    });
    const refusals = (): unknown[] => [
      // @ts-expect-error -- a set of objects
      array(entry, { listType: 'set' }),
      // @ts-expect-error -- a set with null in it
      array(nullable(string()), { listType: 'set' }),
      // @ts-expect-error -- a list map without keys
      array(entry, { listType: 'map' }),
      // @ts-expect-error -- a key that is no field
      array(entry, { listType: 'map', keys: ['title'] }),
      // @ts-expect-error -- an optional key
      array(entry, { listType: 'map', keys: ['note'] }),
      // @ts-expect-error -- a key that is a list
      array(entry, { listType: 'map', keys: ['parts'] }),
      // @ts-expect-error -- keys for a list that is no map
      array(entry, { keys: ['name'] }),
    ];
    expect(refusals).toBeInstanceOf(Function);
    expect(array(entry, { listType: 'map', keys: ['name', 'age'] }).json['x-kubernetes-list-map-keys']).toEqual([
      'name',
      'age',
    ]);
  });
});

describe('the JSON of a schema', () => {
  test('is the structural schema, keys as in the API', () => {
    const schema = object(
      {
        replicas: integer({ minimum: 1, maximum: 10, description: 'How many.' }),
        image: defaulted(string({ maxLength: 99, pattern: '^[a-z]+$' }), 'nginx'),
        mode: optional(enumeration(['Fast', 'Safe'])),
        ports: optional(
          array(object({ name: string({ maxLength: 15 }) }), { listType: 'map', keys: ['name'], minItems: 1 }),
        ),
        labels: optional(map(string({ maxLength: 63 }), { maxProperties: 8, mapType: 'atomic' })),
        target: optional(nullable(intOrString({ maxLength: 15 }))),
      },
      {
        description: 'A thing.',
        rules: [{ rule: 'self.replicas < 9', message: 'fewer', reason: 'FieldValueForbidden', fieldPath: '.replicas' }],
      },
    );
    expect(schema.json).toEqual({
      type: 'object',
      description: 'A thing.',
      required: ['replicas'],
      properties: {
        replicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 10, description: 'How many.' },
        image: { type: 'string', maxLength: 99, pattern: '^[a-z]+$', default: 'nginx' },
        mode: { type: 'string', enum: ['Fast', 'Safe'] },
        ports: {
          type: 'array',
          minItems: 1,
          maxItems: 64,
          items: { type: 'object', properties: { name: { type: 'string', maxLength: 15 } }, required: ['name'] },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        labels: {
          type: 'object',
          maxProperties: 8,
          additionalProperties: { type: 'string', maxLength: 63 },
          'x-kubernetes-map-type': 'atomic',
        },
        target: {
          'x-kubernetes-int-or-string': true,
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          maxLength: 15,
          nullable: true,
        },
      },
      'x-kubernetes-validations': [
        { rule: 'self.replicas < 9', message: 'fewer', reason: 'FieldValueForbidden', fieldPath: '.replicas' },
      ],
    });
  });

  test('says how wide an integer is: 32 bits where both bounds are', () => {
    const widest = { minimum: -(2 ** 31) + 1, maximum: 2 ** 31 - 1 };
    expect(integer(widest).json.format).toBe('int32');
    expect(integer({ ...widest, maximum: 2 ** 31 }).json.format).toBe('int64');
    expect(integer({ minimum: 0 }).json.format).toBe('int64');
  });

  test('a string with a format refuses lists, which the API server would let pass', () => {
    expect(string({ format: 'date' }).json).toEqual({
      type: 'string',
      format: 'date',
      maxLength: 1024,
      'x-kubernetes-validations': [{ rule: 'type(self) != list', message: 'must be a string' }],
    });
  });

  test('is bounded wherever no bound was given', () => {
    expect(string().json).toEqual({ type: 'string', maxLength: 1024 });
    expect(array(boolean()).json).toMatchObject({ maxItems: 64 });
    expect(map(boolean()).json).toMatchObject({ maxProperties: 64 });
    expect(intOrString().json).toMatchObject({ maxLength: 1024 });
    expect(quantity().json).toMatchObject({ maxLength: 64 });
  });

  test('is the same for a schema that was described or ruled upon: builders change nothing', () => {
    const plain = string();
    withRules(described(plain, 'x'), { rule: 'true', message: 'm' });
    expect(plain.json).toEqual({ type: 'string', maxLength: 1024 });
  });

  test('a default carries the defaults of its own fields', () => {
    const inner = object({ path: defaulted(string(), '/'), port: defaulted(port(), 80) });
    expect(defaulted(inner, { port: 8080 }).json.default).toEqual({ path: '/', port: 8080 });
  });

  test('an immutable field that may be absent cannot be removed once it is set, wherever in the object it stands', () => {
    const inner = object({ key: immutable(string()) });
    const schema = object({
      zone: optional(immutable(string())),
      place: optional(inner),
      size: immutable(integer()),
      note: optional(string()),
    });
    expect(schema.json['x-kubernetes-validations']).toEqual([
      {
        rule: '!has(oldSelf.zone) || has(self.zone)',
        message: 'is immutable: cannot be removed once it is set',
        fieldPath: '.zone',
      },
      {
        rule: '!has(oldSelf.place) || has(self.place)',
        message: 'is immutable: cannot be removed once it is set',
        fieldPath: '.place',
      },
    ]);
    expect(schema.json.properties?.['size']?.['x-kubernetes-validations']).toMatchObject([{ rule: 'self == oldSelf' }]);
  });

  test('a field name that CEL reserves is spelt for CEL in rules of our own', () => {
    const schema = object({ namespace: optional(immutable(string())) });
    expect(schema.json['x-kubernetes-validations']).toMatchObject([
      { rule: '!has(oldSelf.__namespace__) || has(self.__namespace__)', fieldPath: '.namespace' },
    ]);
  });
});
