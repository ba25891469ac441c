/** Paths of fields inside a schema, as `fieldPath` of a CEL rule writes them: `.port`, `.labels['a.b']`. */
import type { JsonSchema } from './json-schema.ts';
import { fieldAt } from './wording.ts';

export interface FoundField {
  readonly schema: JsonSchema;
  /** As error messages name it: `labels[a.b]`. */
  readonly path: string;
}

/** The field that the path names; undefined where there is none or the path does not parse. */
export function findField(schema: JsonSchema, fieldPath: string): FoundField | undefined {
  let found: FoundField = { schema, path: '' };
  for (let rest = fieldPath; rest !== '';) {
    const [token, named, keyed] = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)+)'\])/.exec(rest) ?? [];
    if (token === undefined) return undefined;
    const next = step(found, named ?? unescaped(keyed ?? ''));
    if (next === undefined) return undefined;
    found = next;
    rest = rest.slice(token.length);
  }
  return found.path === '' ? undefined : found;
}

function step({ schema, path }: FoundField, name: string): FoundField | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property && { schema: property, path: fieldAt(path, name) };
  }
  return additionalProperties && { schema: additionalProperties, path: `${path}[${name}]` };
}

const unescaped = (text: string): string => text.replace(/\\(['\\])/g, '$1');
