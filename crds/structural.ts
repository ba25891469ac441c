/**
 * What is wrong with a schema: all that the API server would refuse in a CRD and that the types of schema.ts cannot, and what it would take
 * but then judge in a way that nobody means. Paths are those of the fields: `spec.ports[].name`.
 */
import { namesOldSelf } from './cel.ts';
import { unknownFields } from './defaults.ts';
import { findField } from './field-path.ts';
import { formats, isFormat } from './formats.ts';
import type { JsonSchema, Rule } from './json-schema.ts';
import { compilePattern } from './pattern.ts';
import { problemsOfStored } from './validate.ts';
import { fieldAt } from './wording.ts';

/** One thing that is wrong with a definition, and where. */
export interface Flaw {
  readonly path: string;
  readonly message: string;
}

/** Everything that is wrong with the schema, from the outside in; empty when the API server takes it. CEL itself is left to the server. */
export const flawsOf = (schema: JsonSchema, path: string): readonly Flaw[] =>
  flawsIn(schema, { path, canCompare: true });

/** Where in the schema the walk is. */
interface Position {
  readonly path: string;
  /** Stored and new value can be told to be the same one, so rules may name `oldSelf`. */
  readonly canCompare: boolean;
}

function flawsIn(schema: JsonSchema, position: Position): readonly Flaw[] {
  const { path } = position;
  const messages = [
    ...numberFlaws(schema),
    ...textFlaws(schema),
    ...countFlaws(schema),
    ...choiceFlaws(schema),
    ...listTypeFlaws(schema),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule) => ruleFlaws(rule, schema, position)),
  ];
  return [
    ...messages.map((message) => ({ path, message })),
    ...defaultFlaws(schema, path),
    ...partFlaws(schema, position),
  ];
}

function partFlaws(schema: JsonSchema, { path, canCompare }: Position): readonly Flaw[] {
  const { items, additionalProperties, properties = {} } = schema;
  const isMap = schema['x-kubernetes-list-type'] === 'map';
  return [
    ...(items ? flawsIn(items, { path: `${path}[]`, canCompare: canCompare && isMap }) : []),
    ...(additionalProperties ? flawsIn(additionalProperties, { path: `${path}{}`, canCompare }) : []),
    ...Object.entries(properties).flatMap(([name, property]) => {
      const at = fieldAt(path, name);
      return [
        ...nameFlaws(name).map((message) => ({ path: at, message })),
        ...flawsIn(property, { path: at, canCompare }),
      ];
    }),
  ];
}

/** Field names are part of the API for ever: camelCase, as the API conventions want them, and names that CEL can spell. */
const nameFlaws = (name: string): readonly string[] =>
  /^[a-z][A-Za-z0-9]*$/.test(name)
    ? []
    : [`the field name ${JSON.stringify(name)} must be camelCase: letters and digits, first a small letter`];

function numberFlaws({ type, minimum, maximum }: JsonSchema): readonly string[] {
  const bounds = Object.entries({ minimum, maximum }).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  const flaws = bounds
    .filter(([, bound]) => !Number.isSafeInteger(bound))
    .map(([name, bound]) =>
      type === 'number' && Number.isFinite(bound) && !Number.isInteger(bound)
        ? `${name} ${bound} is cut to ${Math.trunc(bound)} by the API server where the value is a whole number: use a whole ${name}, or a CEL rule`
        : `${name} ${bound} must be a whole number that JSON carries exactly, at most ${Number.MAX_SAFE_INTEGER}`,
    );
  return [...flaws, ...crossed('minimum', minimum, 'maximum', maximum)];
}

const crossed = (low: string, least: number | undefined, high: string, most: number | undefined): readonly string[] =>
  least !== undefined && most !== undefined && least > most ? [`${low} ${least} is above ${high} ${most}`] : [];

function textFlaws({ type, enum: choices, minLength, maxLength, pattern, format }: JsonSchema): readonly string[] {
  const flaws = [...crossed('minLength', minLength, 'maxLength', maxLength), ...notCounts({ minLength, maxLength })];
  if (type === 'string' && maxLength === undefined && choices === undefined)
    flaws.push('a string must have a maxLength');
  if (type === 'string' && format !== undefined && !isFormat(format)) {
    flaws.push(
      `the API server does not check the format ${JSON.stringify(format)}: use one of ${formats.join(', ')}, or a pattern`,
    );
  }
  return pattern === undefined ? flaws : [...flaws, ...patternFlaws(pattern)];
}

function patternFlaws(pattern: string): readonly string[] {
  try {
    compilePattern(pattern);
    return [];
  } catch (error) {
    return [`the pattern ${pattern} cannot be used: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const notCounts = (counts: Readonly<Record<string, number | undefined>>): string[] =>
  Object.entries(counts)
    .filter(([, count]) => count !== undefined && !(Number.isSafeInteger(count) && count >= 0))
    .map(([name, count]) => `${name} ${String(count)} must be a whole number, 0 or more`);

function countFlaws(schema: JsonSchema): readonly string[] {
  const { type, additionalProperties, minItems, maxItems, minProperties, maxProperties } = schema;
  return [
    ...notCounts({ minItems, maxItems, minProperties, maxProperties }),
    ...crossed('minItems', minItems, 'maxItems', maxItems),
    ...crossed('minProperties', minProperties, 'maxProperties', maxProperties),
    ...(type === 'array' && maxItems === undefined ? ['a list must have maxItems'] : []),
    ...(additionalProperties && maxProperties === undefined ? ['a map must have maxProperties'] : []),
  ];
}

function choiceFlaws({ enum: choices, nullable }: JsonSchema): readonly string[] {
  if (choices === undefined) return [];
  return [
    ...(choices.length === 0 ? ['an enumeration needs a value'] : []),
    ...(new Set(choices).size < choices.length ? ['an enumeration must not name a value twice'] : []),
    ...(nullable
      ? ['the API server refuses null for an enumeration, nullable or not: make it optional, or add a value for it']
      : []),
  ];
}

const isScalar = ({ type }: JsonSchema): boolean => type !== 'object' && type !== 'array';

function listTypeFlaws(schema: JsonSchema): readonly string[] {
  const { items, 'x-kubernetes-list-type': listType } = schema;
  if (items === undefined || listType === undefined || listType === 'atomic') return [];
  const nullable = items.nullable ? [`entries of a ${listType} must not be nullable`] : [];
  if (listType === 'set') return [...nullable, ...(isScalar(items) ? [] : ['entries of a set must be scalars'])];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return [
    ...nullable,
    ...(keys.length === 0 ? ['a list of type map needs keys'] : []),
    ...(new Set(keys).size < keys.length ? ['the keys of a list must not repeat'] : []),
    ...keys.flatMap((key) => keyFlaws(items, key)),
  ];
}

function keyFlaws(items: JsonSchema, key: string): readonly string[] {
  const { properties = {}, required = [] } = items;
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) return [`the key ${key} is no field of the entries`];
  return [
    ...(isScalar(property) ? [] : [`the key ${key} must be a scalar`]),
    ...(property.nullable ? [`the key ${key} must not be nullable`] : []),
    ...(required.includes(key) || property.default !== undefined
      ? []
      : [`the key ${key} must be required or have a default`]),
  ];
}

function ruleFlaws(rule: Rule, schema: JsonSchema, { canCompare }: Position): readonly string[] {
  const comparing = namesOldSelf(rule.rule);
  const texts = [rule.rule, rule.message, rule.messageExpression].filter((text) => text !== undefined);
  const flaws = [
    ...(texts.some((text) => text.trim() === '') ? ['rule, message and messageExpression must not be blank'] : []),
    ...(/[\n\r]/.test(rule.message ?? '') ? ['the message must be one line'] : []),
    ...(rule.fieldPath !== undefined && !findField(schema, rule.fieldPath)
      ? [`fieldPath ${rule.fieldPath} names no field of this value`]
      : []),
    ...(rule.optionalOldSelf !== undefined && !comparing ? ['optionalOldSelf is for rules that name oldSelf'] : []),
    ...(comparing && !canCompare
      ? ['oldSelf cannot be used inside a list that is not of type map: its entries cannot be told apart over time']
      : []),
  ];
  return flaws.map((flaw) => `the rule ${JSON.stringify(rule.rule)}: ${flaw}`);
}

/** Only where the schema itself is sound: a default is judged by it. */
function defaultFlaws(schema: JsonSchema, path: string): readonly Flaw[] {
  const { default: value, ...bare } = schema;
  if (value === undefined) return [];
  if (value === null) return [{ path, message: 'a default of null is no default to the API server: make it optional' }];
  if (flawsIn(bare, { path, canCompare: true }).length > 0) return [];
  return [
    ...unknownFields(bare, value, path).map((at) => ({ path: at, message: 'the default names an unknown field' })),
    ...problemsOfStored(bare, value, { path }).map((one) => ({
      path: one.path,
      message: `the default does not fit: ${one.message}`,
    })),
  ];
}
