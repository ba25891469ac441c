/** What the API server stores of what was written: nulls that mean nothing dropped, defaults filled in. */
import { type JsonSchema, fieldOf, isList, isObject } from './json-schema.ts';

/**
 * The value as stored, in the order of the API server: first, null fields that are neither nullable nor defaulted are dropped; then
 * every absent or null field with a default gets it, also inside defaults. The value itself is left alone.
 */
export const fillDefaults = (schema: JsonSchema, value: unknown): unknown =>
  filled(schema, withoutNulls(schema, value));

const isPlainNull = (schema: JsonSchema | undefined, value: unknown): boolean =>
  value === null && schema !== undefined && schema.nullable !== true;

function withoutNulls(schema: JsonSchema | undefined, value: unknown): unknown {
  if (isList(value)) return value.map((item) => withoutNulls(schema?.items, item));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, field]) => {
    const of = schema && fieldOf(schema, name);
    return !(isPlainNull(of, field) && of?.default === undefined);
  });
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutNulls(schema && fieldOf(schema, name), field)]));
}

function filled(schema: JsonSchema | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  if (isList(value)) return value.map((item) => filled(schema.items, item));
  if (!isObject(value)) return value;
  const missing = Object.entries(schema.properties ?? {}).filter(
    ([name, property]) =>
      property.default !== undefined && (!Object.hasOwn(value, name) || isPlainNull(property, value[name])),
  );
  const whole = { ...value, ...Object.fromEntries(missing.map(([name, property]) => [name, property.default])) };
  return Object.fromEntries(Object.entries(whole).map(([name, field]) => [name, filled(fieldOf(schema, name), field)]));
}

/** Paths of the fields that the schema does not name, sorted: strict requests are refused for them, others lose them silently. */
export const unknownFields = (schema: JsonSchema, value: unknown, path: string): readonly string[] =>
  unknownIn(schema, value, path).sort();

function unknownIn(schema: JsonSchema | undefined, value: unknown, path: string): string[] {
  if (isList(value)) return value.flatMap((item, index) => unknownIn(schema?.items, item, `${path}[${index}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const of = schema && fieldOf(schema, name);
    const at = path === '' ? name : `${path}.${name}`;
    return of === undefined ? [at] : unknownIn(of, field, at);
  });
}
