/**
 * The API server's judgement without an API server, for tests, samples and tools: the same values refused, with the same words.
 *
 * Own code and not a JSON Schema library: a CRD's schema only looks like JSON Schema. Nulls are dropped or defaulted before anything is
 * judged, `nullable` and int-or-string replace type unions, lengths count code points, whole numbers are compared with truncated bounds,
 * lists are sets or maps, patterns are RE2, formats are Go's, and defaults are judged when a kind is defined, inside the operator, whose
 * bundle should carry no library for it. schema.cluster.test.ts holds it to a real API server, answer by answer.
 *
 * It judges as on creation: the server lets an update keep what was wrong before (ratcheting), this does not.
 */
import type { Evaluate } from './cel.ts';
import { fillDefaults, unknownFields } from './defaults.ts';
import { hasFormat } from './formats.ts';
import { type JsonSchema, isList, isObject } from './json-schema.ts';
import { duplicatesIn } from './list-types.ts';
import { compilePattern } from './pattern.ts';
import { brokenRules } from './rules.ts';
import type { Infer, Input, Property } from './schema.ts';
import { type Problem, type Reason, fieldAt, invalid, isInt64, printed, printedFloat, quoted } from './wording.ts';

export interface Judging {
  /** Where the value stands, for the paths in problems. @default '' */
  readonly path?: string;
  /** The stored value, for an update. @default none: creation */
  readonly old?: unknown;
  /** Judges CEL rules. @default rules are not judged */
  readonly evaluate?: Evaluate;
}

/** The value as the API server stores it: nulls without meaning dropped, defaults filled in. Not validated. */
export const withDefaults = <S extends Property>(schema: S, value: Input<S>): Infer<S> =>
  fillDefaults(schema.json, value) as Infer<S>;

/**
 * Everything that the API server would refuse in the value, in its words; empty when it takes it. Fields that the schema does not know
 * are problems, as in strict requests (kubectl's default). As on the server, CEL rules are judged only when nothing else makes them
 * meaningless.
 */
export function validate(schema: Pick<Property, 'json'>, value: unknown, judging: Judging = {}): readonly Problem[] {
  const { path = '' } = judging;
  return [
    ...refusedAsUnknown(schema.json, value, path),
    ...problemsOfStored(schema.json, fillDefaults(schema.json, value), judging),
  ];
}

/** Fields that strict requests are refused for. */
export const refusedAsUnknown = (schema: JsonSchema, value: unknown, path: string): readonly Problem[] =>
  unknownFields(schema, value, path).map((at) => ({
    path: at,
    message: `unknown field ${quoted(at)}`,
    reason: 'FieldValueInvalid',
  }));

/** After one of these the API server judges no CEL rule. */
const blocking: ReadonlySet<Reason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** What is wrong with a value whose defaults are filled in. */
export function problemsOfStored(schema: JsonSchema, value: unknown, judging: Judging = {}): readonly Problem[] {
  const { path = '', old, evaluate } = judging;
  const problems = [...wrongIn(schema, value, path), ...duplicatesIn(schema, value, path)];
  if (evaluate === undefined || problems.some((one) => blocking.has(one.reason))) return problems;
  return [...problems, ...brokenRules(schema, { value, old, path }, evaluate)];
}

/** All that a schema says but list types and rules, in the order of the API server. */
function wrongIn(schema: JsonSchema, value: unknown, path: string): readonly Problem[] {
  return [
    ...wrongType(schema, value, path),
    ...(typeof value === 'string' ? wrongText(schema, value, path) : []),
    ...(typeof value === 'number' ? wrongNumber(schema, value, path) : []),
    ...(isList(value) ? wrongList(schema, value, path) : []),
    ...wrongChoice(schema, value, path),
    ...(isObject(value) ? wrongObject(schema, value, path) : []),
  ];
}

const inBody = (path: string, should: string): string => `${path} in body ${should}`;

/** `shown` is what the server prints for the value: its type. */
const typeProblem = (path: string, expected: string, shown: string): Problem => ({
  path,
  message: `Invalid value: ${quoted(shown)}: ${inBody(path, `must be of type ${expected}: ${quoted(shown)}`)}`,
  reason: 'FieldValueTypeInvalid',
});

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number';
  return typeof value;
}

function wrongType(schema: JsonSchema, value: unknown, path: string): readonly Problem[] {
  const isEither = schema['x-kubernetes-int-or-string'] === true;
  const types = isEither ? ['integer', 'string'] : [schema.type ?? ''];
  const type = typeOf(value);
  if (type === 'null') return schema.nullable === true ? [] : [typeProblem(path, types.join(','), 'null')];
  if (types.includes(type) || (type === 'integer' && schema.type === 'number')) return [];
  if (schema.format !== undefined && type !== 'string') return wrongTypeOfFormat(schema, schema.format, { type, path });
  const alternatives = (schema.anyOf ?? []).slice(0, 1).flatMap((other) => wrongType(other, value, path));
  return [typeProblem(path, types.join(','), type), ...alternatives];
}

/** Where there is a format, the server names it in place of the type; for a list it leaves that to a rule of schema.ts. */
function wrongTypeOfFormat(
  schema: JsonSchema,
  format: string,
  found: { type: string; path: string },
): readonly Problem[] {
  if (found.type === 'array') return [typeProblem(found.path, schema.type ?? '', 'array')];
  const shown = found.type === 'integer' ? 'int64' : found.type === 'number' ? 'float64' : '';
  return [typeProblem(found.path, format, shown)];
}

/** Code points, as the server counts, though its message says bytes. */
const lengthOf = (text: string): number => text.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, '_').length;

function wrongText(schema: JsonSchema, text: string, path: string): readonly Problem[] {
  const { format } = schema;
  const asText = wrongLengthOrPattern(schema, text, path);
  if (schema.type !== 'string' || format === undefined || hasFormat(format, text)) return asText;
  const detail = inBody(path, `must be of type ${format}: ${quoted(text)}`);
  return [...asText, { ...invalid(path, text, detail), reason: 'FieldValueTypeInvalid' }];
}

/** The first of the three that is broken. */
function wrongLengthOrPattern(schema: JsonSchema, text: string, path: string): readonly Problem[] {
  const { minLength, maxLength, pattern } = schema;
  if (maxLength !== undefined && lengthOf(text) > maxLength) {
    const detail = `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`;
    return [{ path, message: `Too long: ${detail}`, reason: 'FieldValueTooLong' }];
  }
  if (minLength !== undefined && lengthOf(text) < minLength) {
    return [invalid(path, text, inBody(path, `should be at least ${minLength} chars long`))];
  }
  if (pattern === undefined || compilePattern(pattern).test(text)) return [];
  return [invalid(path, text, inBody(path, `should match '${pattern}'`))];
}

/** The server compares whole numbers with bounds cut to whole numbers. */
function wrongNumber(schema: JsonSchema, value: number, path: string): readonly Problem[] {
  const bound = isInt64(value) ? Math.trunc : (limit: number) => limit;
  const shown = isInt64(value) ? String : printedFloat;
  const { minimum, maximum } = schema;
  const problems: Problem[] = [];
  if (maximum !== undefined && value > bound(maximum)) {
    problems.push(invalid(path, value, inBody(path, `should be less than or equal to ${shown(bound(maximum))}`)));
  }
  if (minimum !== undefined && value < bound(minimum)) {
    problems.push(invalid(path, value, inBody(path, `should be greater than or equal to ${shown(bound(minimum))}`)));
  }
  return problems;
}

const tooMany = (path: string, count: number, max: number): Problem => ({
  path,
  message: `Too many: ${count}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  reason: 'FieldValueTooMany',
});

function wrongList(schema: JsonSchema, list: readonly unknown[], path: string): readonly Problem[] {
  const { items, minItems, maxItems } = schema;
  const problems = items ? list.flatMap((item, index) => wrongIn(items, item, `${path}[${index}]`)) : [];
  if (minItems !== undefined && list.length < minItems) {
    problems.push(invalid(path, list.length, inBody(path, `should have at least ${minItems} items`)));
  }
  if (maxItems !== undefined && list.length > maxItems) problems.push(tooMany(path, list.length, maxItems));
  return problems;
}

function wrongChoice(schema: JsonSchema, value: unknown, path: string): readonly Problem[] {
  if (schema.enum === undefined || (typeof value === 'string' && schema.enum.includes(value))) return [];
  const choices = schema.enum.map(quoted).join(', ');
  const message = `Unsupported value: ${printed(value)}: supported values: ${choices}`;
  return [{ path, message, reason: 'FieldValueNotSupported' }];
}

function wrongObject(schema: JsonSchema, object: Readonly<Record<string, unknown>>, path: string): readonly Problem[] {
  const { properties = {}, additionalProperties, required = [], minProperties, maxProperties } = schema;
  const count = Object.keys(object).length;
  const problems: Problem[] = [];
  if (minProperties !== undefined && count < minProperties) {
    problems.push(invalid(path, count, inBody(path, `should have at least ${minProperties} properties`)));
  }
  if (maxProperties !== undefined && count > maxProperties) problems.push(tooMany(path, count, maxProperties));
  for (const [name, field] of Object.entries(object)) {
    const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (of !== undefined) problems.push(...wrongIn(of, field, fieldAt(path, name)));
  }
  const missing = required.filter((name) => !Object.hasOwn(object, name));
  return [...problems, ...missing.map((name) => missingAt(fieldAt(path, name)))];
}

const missingAt = (path: string): Problem => ({ path, message: 'Required value', reason: 'FieldValueRequired' });
