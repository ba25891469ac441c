/** What a CRD's schema looks like: the part of apiextensions.k8s.io/v1 that the schema language writes. */

/** Why a CEL rule refuses a value; the API server answers with it. @default FieldValueInvalid */
export type RuleReason = 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';

interface RuleProps {
  /** CEL; `self` is the value, `oldSelf` the stored one. A rule that names `oldSelf` is judged on updates only. */
  readonly rule: string;
  readonly reason?: RuleReason;
  /** Field that the error names, relative to the value: `.port` or `['port']`. */
  readonly fieldPath?: string;
  /** The rule is also judged when there is no stored value; `oldSelf` is then a CEL optional. */
  readonly optionalOldSelf?: boolean;
}

/** One CEL rule: x-kubernetes-validations. It always has a text for the user; an expression may make a better one. */
export type Rule = RuleProps &
  (
    | { readonly message: string; readonly messageExpression?: string }
    | { readonly messageExpression: string; readonly message?: string }
  );

/** How server-side apply merges a list: as a whole, as a set of scalars, or entry by entry by its keys. */
export type ListType = 'atomic' | 'set' | 'map';

/** A structural schema, keys as in the API. */
export interface JsonSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: ListType;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** A JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON list, of unknown entries. */
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** The schema of a field by its name: a named property, or the one of all values of a map. Names such as `constructor` are not found by accident. */
export function fieldOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
}
