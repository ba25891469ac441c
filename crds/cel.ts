/** What CEL rules see of a value. No CEL engine: the one that judges rules is passed in, so the operator's bundle carries none. */
import { type JsonSchema, fieldOf, isList, isObject } from './json-schema.ts';

/** Judges one CEL expression; throws where CEL fails. `oldSelf` is absent on creation. */
export type Evaluate = (expression: string, variables: CelVariables) => unknown;

export interface CelVariables {
  readonly self: unknown;
  readonly oldSelf?: unknown;
  /** `oldSelf` is a CEL optional, and there also when it is empty. */
  readonly optionalOldSelf: boolean;
}

/** Words that CEL keeps for itself: as field names they are written between underscores. */
const words = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** A field's name as CEL spells it: `namespace` is `__namespace__`, `a-b` is `a__dash__b`. */
export function celName(name: string): string {
  if (words.has(name)) return `__${name}__`;
  const signs: Readonly<Record<string, string>> = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };
  return name.replace(/__|[./-]/g, (sign) => `__${signs[sign] ?? ''}__`);
}

/** Whether the rule compares with the stored value. Texts in quotes do not count. */
export const namesOldSelf = (expression: string): boolean =>
  /\boldSelf\b/.test(expression.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''"));

/** The value as rules see it: integers as CEL integers, times as times, field names spelt for CEL. Keys of maps stay as they are. */
export function celValueOf(schema: JsonSchema | undefined, value: unknown): unknown {
  if (typeof value === 'number') return schema?.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string')
    return schema?.format === 'date-time' || schema?.format === 'date' ? new Date(value) : value;
  if (isList(value)) return value.map((item) => celValueOf(schema?.items, item));
  if (!isObject(value)) return value;
  const isMap = schema?.additionalProperties !== undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      isMap ? name : celName(name),
      celValueOf(schema && fieldOf(schema, name), field),
    ]),
  );
}
