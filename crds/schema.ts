/**
 * The schema language of kinds. One value is two things: the structural OpenAPI v3 schema that goes into the CRD (`json`), and, for
 * the compiler alone, what the API server stores (`Infer`, defaults present) and what a user writes (`Input`).
 *
 * Whatever these types cannot refuse is refused by `problemsOf` (structural.ts), which `defineKind` calls: all problems at once, each
 * with its path.
 */
import type { Condition } from '../charts/resource.ts';
import { celName } from './cel.ts';
import { fillDefaults } from './defaults.ts';
import type { Format } from './formats.ts';
import type { JsonSchema, ListType, Rule } from './json-schema.ts';

export type { JsonSchema, Rule } from './json-schema.ts';

declare const types: unique symbol;

/** Whether a property must be written, may be absent, or is filled in by the API server. */
export type Presence = 'required' | 'optional' | 'defaulted';

/** A schema in its place in an object. */
export interface Property<Stored = unknown, Written = unknown, P extends Presence = Presence> {
  readonly json: JsonSchema;
  readonly presence: P;
  /** For the compiler only; never there at run time. */
  readonly [types]?: { readonly stored: Stored; readonly written: Written };
}

/** A schema of a value that is there. `Stored` is what the operator reads, `Written` what a user writes. */
export type Schema<Stored = unknown, Written = Stored> = Property<Stored, Written, 'required'>;

/** A schema of an object with named properties: what `spec` and `status` are. */
export type ObjectSchema<Stored extends object = object, Written extends object = object> = Schema<Stored, Written>;

/** The type of a value as stored: defaults are present. */
export type Infer<S extends Property> = S extends Property<infer Stored> ? Stored : never;

/** The type of a value as a user writes it: what has a default may be left out. */
export type Input<S extends Property> = S extends Property<unknown, infer Written> ? Written : never;

/** The properties of an object by name. */
export type Properties = Readonly<Record<string, Property>>;

type NamesOf<P extends Properties, Which extends Presence> = {
  [Name in keyof P]: P[Name]['presence'] extends Which ? Name : never;
}[keyof P];

/** Shows an intersection as one object type, so that editors and error messages can be read. */
type Flat<T> = { [Name in keyof T]: T[Name] };

/** An object as stored: only what is `optional` may be absent. */
export type StoredObject<P extends Properties> = Flat<
  { readonly [Name in NamesOf<P, 'required' | 'defaulted'>]: Infer<P[Name]> } & {
    readonly [Name in NamesOf<P, 'optional'>]?: Infer<P[Name]>;
  }
>;

/** An object as written: what is `optional` or `defaulted` may be absent. */
export type WrittenObject<P extends Properties> = Flat<
  { readonly [Name in NamesOf<P, 'required'>]: Input<P[Name]> } & {
    readonly [Name in NamesOf<P, 'optional' | 'defaulted'>]?: Input<P[Name]>;
  }
>;

/**
 * Upper bounds where a schema gives none. Everything is bounded: an unbounded value makes CEL rules cost too much for the API server
 * to admit them, and lets one user fill etcd.
 */
export const defaultBounds = { maxLength: 1024, maxItems: 64, maxProperties: 64 } as const;

export interface Described {
  /** What `kubectl explain` and the reference page say. */
  readonly description?: string;
}

export interface IntegerProps extends Described {
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface StringProps extends Described {
  readonly minLength?: number;
  /** @default defaultBounds.maxLength */
  readonly maxLength?: number;
  /** RE2, as Go reads it; not anchored. */
  readonly pattern?: string;
  /** A format that the API server checks; see formats.ts. */
  readonly format?: Format;
}

export interface ObjectProps extends Described {
  readonly rules?: readonly Rule[];
}

export interface MapProps extends Described {
  readonly minProperties?: number;
  /** @default defaultBounds.maxProperties */
  readonly maxProperties?: number;
  readonly mapType?: 'granular' | 'atomic';
}

type Scalar = string | number | boolean;

/** Names of the properties that can be keys of a list: scalars that are always there. */
type KeyOf<Item> = [Item] extends [object]
  ? { [Name in keyof Item & string]: Item extends Record<Name, Scalar> ? Name : never }[keyof Item & string]
  : never;

interface ArrayBounds extends Described {
  readonly minItems?: number;
  /** @default defaultBounds.maxItems */
  readonly maxItems?: number;
}

/** A list is `atomic` unless said otherwise; `set` is for scalars, `map` needs the keys that tell entries apart. */
export type ArrayProps<Item> = ArrayBounds &
  (
    | { readonly listType?: 'atomic' }
    | ([Item] extends [Scalar] ? { readonly listType: 'set' } : never)
    | { readonly listType: 'map'; readonly keys: readonly [KeyOf<Item>, ...KeyOf<Item>[]] }
  );

const schema = <Stored, Written = Stored>(json: JsonSchema): Schema<Stored, Written> => ({
  json,
  presence: 'required',
});

/** An object. Its properties must be written unless they are `optional` or `defaulted`; fields without a name here are refused. */
export function object<P extends Properties>(
  properties: P,
  props: ObjectProps = {},
): ObjectSchema<StoredObject<P>, WrittenObject<P>> {
  const names = Object.keys(properties);
  const required = names.filter((name) => properties[name]?.presence === 'required');
  const rules = [...(props.rules ?? []), ...names.flatMap((name) => keptOnceSet(name, properties[name]))];
  return schema({
    type: 'object',
    ...describedBy(props),
    properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, property.json])),
    ...(required.length > 0 && { required }),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  });
}

const describedBy = (props: Described): Described =>
  props.description === undefined ? {} : { description: props.description };

const isInt32 = (value: number | undefined): boolean => value !== undefined && Math.abs(value) < 2 ** 31;

/** A whole number. Within 32 bits when both bounds are. */
export function integer(props: IntegerProps = {}): Schema<number> {
  return schema({
    type: 'integer',
    format: isInt32(props.minimum) && isInt32(props.maximum) ? 'int32' : 'int64',
    ...props,
  });
}

/** Any number. Prefer `integer` or `quantity`: floating point does not survive every client. */
export const number = (props: IntegerProps = {}): Schema<number> =>
  schema({ type: 'number', format: 'double', ...props });

/** Text, at most `defaultBounds.maxLength` characters unless `maxLength` says otherwise. */
export function string(props: StringProps = {}): Schema<string> {
  const bounded: JsonSchema = { type: 'string', maxLength: defaultBounds.maxLength, ...props };
  return schema(props.format === undefined ? bounded : { ...bounded, 'x-kubernetes-validations': [noList] });
}

/** Without it the API server lets a list pass for any string that has a format. Constant cost, however long the string may be. */
const noList: Rule = { rule: 'type(self) != list', message: 'must be a string' };

/** One of a list of words. */
export function enumeration<const Values extends readonly [string, ...string[]]>(
  values: Values,
  props: Described = {},
): Schema<Values[number]> {
  return schema({ type: 'string', enum: values, ...props });
}

/** True or false. API conventions prefer an enumeration: two values seldom stay two. */
export const boolean = (props: Described = {}): Schema<boolean> => schema({ type: 'boolean', ...props });

/** A list, at most `defaultBounds.maxItems` long unless `maxItems` says otherwise. */
export function array<Stored, Written>(
  item: Schema<Stored, Written>,
  props?: ArrayProps<Stored>,
): Schema<readonly Stored[], readonly Written[]>;
export function array(
  item: Schema,
  props: ArrayBounds & { readonly listType?: ListType; readonly keys?: readonly string[] } = {},
): Schema {
  const { listType = 'atomic', keys, maxItems = defaultBounds.maxItems, ...rest } = props;
  return schema({
    type: 'array',
    ...rest,
    maxItems,
    items: item.json,
    'x-kubernetes-list-type': listType,
    ...(keys && { 'x-kubernetes-list-map-keys': keys }),
  });
}

/** Values by free names, at most `defaultBounds.maxProperties` unless `maxProperties` says otherwise. */
export function map<Stored, Written>(
  value: Schema<Stored, Written>,
  props: MapProps = {},
): Schema<Readonly<Record<string, Stored>>, Readonly<Record<string, Written>>> {
  const { mapType, maxProperties = defaultBounds.maxProperties, ...rest } = props;
  return schema({
    type: 'object',
    ...rest,
    maxProperties,
    additionalProperties: value.json,
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
  });
}

/** A property that may be absent. */
export const optional = <Stored, Written>(of: Schema<Stored, Written>): Property<Stored, Written, 'optional'> => ({
  json: of.json,
  presence: 'optional',
});

/**
 * A property that the API server fills in where it is absent. The default carries the defaults of its own fields, because the server
 * judges CEL rules on a default as it stands in the CRD. Null is no default to the server: use `optional`.
 */
export const defaulted = <Stored, Written>(
  of: Schema<Stored, Written>,
  value: NoInfer<Exclude<Written, null>>,
): Property<Stored, Written, 'defaulted'> => ({
  json: { ...of.json, default: fillDefaults(of.json, value) },
  presence: 'defaulted',
});

/** A value that may be null. */
export const nullable = <Stored, Written>(of: Schema<Stored, Written>): Schema<Stored | null, Written | null> =>
  schema({ ...of.json, nullable: true });

/** The same with another description. */
export const described = <S extends Property>(of: S, description: string): S => ({
  ...of,
  json: { ...of.json, description },
});

/** The same with further CEL rules. */
export const withRules = <S extends Property>(of: S, ...rules: readonly Rule[]): S => ({
  ...of,
  json: { ...of.json, 'x-kubernetes-validations': [...(of.json['x-kubernetes-validations'] ?? []), ...rules] },
});

const unchanged: Rule = {
  rule: 'self == oldSelf',
  message: 'is immutable: delete the object and create it anew to change it',
};

/** The same, but once set it can neither be changed nor, where it is `optional`, be removed. */
export const immutable = <S extends Property>(of: S): S => withRules(of, unchanged);

const holdsImmutable = (json: JsonSchema): boolean =>
  (json['x-kubernetes-validations'] ?? []).includes(unchanged) ||
  Object.values(json.properties ?? {}).some(holdsImmutable);

/** A rule on a field is not judged when the field is removed: without this, removing and adding changes an immutable field. */
function keptOnceSet(name: string, property: Property | undefined): readonly Rule[] {
  if (property?.presence !== 'optional' || !holdsImmutable(property.json)) return [];
  const field = celName(name);
  return [
    {
      rule: `!has(oldSelf.${field}) || has(self.${field})`,
      message: 'is immutable: cannot be removed once it is set',
      fieldPath: `.${name}`,
    },
  ];
}

/** A number or a text, such as a port by number or by name. */
export const intOrString = (
  props: Described & { readonly maxLength?: number; readonly pattern?: string } = {},
): Schema<number | string> =>
  schema({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    maxLength: defaultBounds.maxLength,
    ...props,
  });

const decimal = '([0-9]+(\\.[0-9]*)?|\\.[0-9]+)';

/** An amount such as `500m`, `1.5` or `64Mi`. */
export const quantity = (props: Described = {}): Schema<number | string> =>
  intOrString({ maxLength: 64, pattern: `^[+-]?${decimal}([KMGTPE]i|[numkMGTPE]|[eE][+-]?${decimal})?$`, ...props });

/** A port number. */
export const port = (props: Described = {}): Schema<number> => integer({ minimum: 1, maximum: 65_535, ...props });

/** Not by `string`: only the operator writes it, so its writes need not pay for a rule. */
const lastTransitionTime = schema<string>({
  description: 'When the status last changed.',
  format: 'date-time',
  maxLength: 64,
  type: 'string',
});

/** The conditions of a status, as the API conventions want them. Never state times yourself: see conditions.ts. */
export const conditions: Schema<readonly Condition[]> = array(
  object(
    {
      type: string({
        maxLength: 316,
        pattern:
          '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
        description: 'What the condition is about, in CamelCase.',
      }),
      status: enumeration(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' }),
      reason: string({
        minLength: 1,
        maxLength: 1024,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
        description: 'Why, as one CamelCase word for programs.',
      }),
      message: string({ maxLength: 32_768, description: 'Why, as a sentence for people. May be empty.' }),
      observedGeneration: optional(
        integer({ minimum: 0, description: 'The generation of the spec that the condition was judged on.' }),
      ),
      lastTransitionTime,
    },
    { description: 'One observation of the state of the resource.' },
  ),
  {
    listType: 'map',
    keys: ['type'],
    maxItems: 32,
    description: 'What is known of the state of the resource, one entry a type.',
  },
);
