/** What the API server stores of what was written: nulls that mean nothing dropped, defaults filled in. */
import { type JsonSchema, fieldOf, isList, isObject } from './json-schema.ts';

/**
 * The value as stored: null fields that are not nullable are dropped, then every absent field with a default gets it, also inside
 * defaults. The value itself is left alone.
 */
export const fillDefaults = (schema: JsonSchema, value: unknown): unknown =>
  filled(schema, withoutNulls(schema, value));

function withoutNulls(schema: JsonSchema | undefined, value: unknown): unknown {
  if (isList(value)) return value.map((item) => withoutNulls(schema?.items, item));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => ({ name, field, of: schema && fieldOf(schema, name) }));
  const kept = fields.filter(({ field, of }) => field !== null || of === undefined || of.nullable === true);
  return Object.fromEntries(kept.map(({ name, field, of }) => [name, withoutNulls(of, field)]));
}

function filled(schema: JsonSchema | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  if (isList(value)) return value.map((item) => filled(schema.items, item));
  if (!isObject(value)) return value;
  const missing = Object.entries(schema.properties ?? {})
    .filter(([name, property]) => property.default !== undefined && !Object.hasOwn(value, name))
    .map(([name, property]) => [name, property.default] as const);
  const fields = [...Object.entries(value), ...missing];
  return Object.fromEntries(fields.map(([name, field]) => [name, filled(fieldOf(schema, name), field)]));
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
