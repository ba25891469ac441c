/** What x-kubernetes-list-type promises: entries of a set are unique, entries of a map by their keys. */
import { type JsonSchema, isList, isObject } from './json-schema.ts';
import { type Problem, fieldAt, invalid, printed } from './wording.ts';

/** The entries that break the promise, everywhere in the value. */
export function duplicatesIn(schema: JsonSchema, value: unknown, path: string): readonly Problem[] {
  if (isList(value)) return duplicatesInList(schema, value, path);
  if (!isObject(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, field]) => {
    if (additionalProperties) return duplicatesIn(additionalProperties, field, `${path}[${name}]`);
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property ? duplicatesIn(property, field, fieldAt(path, name)) : [];
  });
}

function duplicatesInList(schema: JsonSchema, list: readonly unknown[], path: string): readonly Problem[] {
  const { items, 'x-kubernetes-list-type': type } = schema;
  const own = type === 'set' ? repeated(list, path) : type === 'map' ? repeatedKeys(schema, list, path) : [];
  return [...own, ...(items ? list.flatMap((item, index) => duplicatesIn(items, item, `${path}[${index}]`)) : [])];
}

/** The second of each group of equal ones. */
function repeated(list: readonly unknown[], path: string): readonly Problem[] {
  const times = new Map<string, number>();
  return list.flatMap((item, index): Problem[] => {
    const known = times.get(printed(item)) ?? 0;
    times.set(printed(item), known + 1);
    if (known !== 1) return [];
    return [{ path: `${path}[${index}]`, message: `Duplicate value: ${printed(item)}`, reason: 'FieldValueDuplicate' }];
  });
}

function repeatedKeys(schema: JsonSchema, list: readonly unknown[], path: string): readonly Problem[] {
  const strange = list.findIndex((item) => item !== null && !isObject(item));
  if (strange >= 0)
    return [invalid(`${path}[${strange}]`, list[strange], 'must be an object for an array of list-type map')];
  return repeated(
    list.map((item) => keysOf(schema['x-kubernetes-list-map-keys'] ?? [], item)),
    path,
  );
}

const keysOf = (names: readonly string[], item: unknown): unknown =>
  Object.fromEntries(
    names.flatMap((name) => (isObject(item) && Object.hasOwn(item, name) ? [[name, item[name]]] : [])),
  );
