/** CEL rules, judged as the API server judges them, by an engine that is passed in. */
import { type Evaluate, celValueOf, namesOldSelf } from './cel.ts';
import { findField } from './field-path.ts';
import { type JsonSchema, type Rule, fieldOf, isList, isObject } from './json-schema.ts';
import { type Problem, fieldAt, printed, quoted } from './wording.ts';

/** A value in its place, with the stored one where the two can be correlated. */
interface Place {
  readonly value: unknown;
  readonly old: unknown;
  readonly path: string;
}

/** The rules that do not hold, from the outside in. Null is judged by the rules around it, not by its own. */
export function brokenRules(schema: JsonSchema, place: Place, evaluate: Evaluate): readonly Problem[] {
  if (place.value === null || place.value === undefined) return [];
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) => judged(rule, schema, place, evaluate));
  return [...own, ...partsOf(schema, place).flatMap((part) => brokenRules(part.schema, part, evaluate))];
}

function partsOf(schema: JsonSchema, place: Place): readonly (Place & { readonly schema: JsonSchema })[] {
  const { value, old, path } = place;
  if (isList(value) && schema.items) {
    const items = schema.items;
    return value.map((item, index) => ({
      schema: items,
      value: item,
      old: sameEntry(schema, item, old),
      path: `${path}[${index}]`,
    }));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const of = fieldOf(schema, name);
    if (of === undefined) return [];
    const at = of === schema.additionalProperties ? `${path}[${name}]` : fieldAt(path, name);
    return [
      { schema: of, value: field, old: isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined, path: at },
    ];
  });
}

/** The stored entry of the same keys; entries of other lists cannot be told apart over time. */
function sameEntry(schema: JsonSchema, item: unknown, old: unknown): unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined || !isObject(item) || !isList(old)) return undefined;
  return old.find((other) => isObject(other) && keys.every((key) => printed(other[key]) === printed(item[key])));
}

function judged(rule: Rule, schema: JsonSchema, place: Place, evaluate: Evaluate): readonly Problem[] {
  const hasOld = place.old !== undefined && place.old !== null;
  const optionalOldSelf = rule.optionalOldSelf ?? false;
  if (namesOldSelf(rule.rule) && !hasOld && !optionalOldSelf) return [];
  const variables = {
    self: celValueOf(schema, place.value),
    ...(hasOld && { oldSelf: celValueOf(schema, place.old) }),
    optionalOldSelf,
  };
  try {
    if (evaluate(rule.rule, variables) === true) return [];
  } catch (error) {
    const type = schema.type ?? '';
    const why = `${error instanceof Error ? error.message : String(error)} evaluating rule: ${rule.message ?? rule.rule}`;
    return [{ path: place.path, message: `Invalid value: ${quoted(type)}: ${why}`, reason: 'FieldValueInvalid' }];
  }
  const field = rule.fieldPath === undefined ? undefined : findField(schema, rule.fieldPath);
  const path = field ? fieldAt(place.path, field.path) : place.path;
  return [refusal(rule, { ...place, path }, schema, () => evaluate(rule.messageExpression ?? '', variables))];
}

function refusal(rule: Rule, place: Place, schema: JsonSchema, expressed: () => unknown): Problem {
  const reason = rule.reason ?? 'FieldValueInvalid';
  const message = messageOf(rule, expressed);
  const isCompound = schema.type === 'object' || schema.type === 'array';
  const value = isCompound ? '' : `: ${printed(place.value)}`;
  const texts = {
    FieldValueInvalid: `Invalid value${value}: ${message}`,
    FieldValueForbidden: `Forbidden: ${message}`,
    FieldValueRequired: `Required value: ${message}`,
    FieldValueDuplicate: `Duplicate value${value}`,
  };
  return { path: place.path, message: texts[reason], reason };
}

/** An expression that fails, or gives no line of text, falls back to the message. */
function messageOf(rule: Rule, expressed: () => unknown): string {
  const fallback = rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`;
  if (rule.messageExpression === undefined) return fallback;
  try {
    const text = expressed();
    return typeof text === 'string' && text.trim() !== '' && !text.trim().includes('\n') ? text.trim() : fallback;
  } catch {
    return fallback;
  }
}
