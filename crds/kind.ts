/**
 * What a kind is: data plus pure functions. Everything else (CRD, RBAC, watches, docs) follows from this value.
 */
import type { Construct } from 'constructs';
import type { Condition, KubeObject, ObjectMeta, PolicyRule, ResourceType } from '../charts/resource.ts';
import { resourceNameOf } from '../charts/resource.ts';
import { fillDefaults } from './defaults.ts';
import type { JsonSchema, Rule } from './json-schema.ts';
import { flawsOfKind } from './kind-problems.ts';
import type { OwnedType } from './owned.ts';
import type { Infer, ObjectSchema } from './schema.ts';

/** A custom resource as the operator reads it: defaults are present, `status` only once it was written. */
export interface Resource<Spec = unknown, Status = unknown> extends KubeObject {
  readonly metadata: ObjectMeta & { readonly namespace: string; readonly uid: string; readonly generation: number };
  readonly spec: Spec;
  readonly status?: Status;
}

/** A condition as `observe` states it; the engine adds `lastTransitionTime` and `observedGeneration`. */
export type ConditionInput = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** Status as `observe` returns it: its conditions carry no times. */
export type StatusInput<Status> = Omit<Status, 'conditions' | 'observedGeneration'> & {
  readonly conditions: readonly ConditionInput[];
};

/** The live children of one resource, from the cache. Only objects whose controller is that resource. */
export interface Observed {
  /** The child of that type and name, or undefined while it does not exist. */
  get<Live extends KubeObject>(type: OwnedType<Live>, name: string): Live | undefined;
  /** All children of that type, sorted by name. */
  all<Live extends KubeObject>(type: OwnedType<Live>): readonly Live[];
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean' | 'number';
  readonly jsonPath: string;
  readonly description?: string;
  /** Columns with a priority above 0 are shown with `-o wide` only. @default 0 */
  readonly priority?: number;
}

/** Paths of the scale subresource, for `kubectl scale` and autoscalers. */
export interface Scale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface KindProps<Spec extends ObjectSchema, Status extends ObjectSchema> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  /** Further names for `kubectl get`; every kind is in `reprise`. @default none */
  readonly categories?: readonly string[];
  /** What the kind is for, in a sentence or two: `kubectl explain` and the reference page begin with it. */
  readonly description: string;
  readonly spec: Spec;
  readonly status: Status;
  /** CEL rules over the whole resource, for example on `self.metadata.name`. @default none */
  readonly rules?: readonly Rule[];
  /** @default no scale subresource */
  readonly scale?: Scale;
  /** Columns besides Name; put Age last. */
  readonly columns: readonly Column[];
  /** Types of the children; from it come the watches and the RBAC. */
  readonly owns: readonly OwnedType[];
  /** Constructs for what should exist. Pure: the same resource gives the same bytes. A throw becomes a condition, not a crash. */
  readonly children: (scope: Construct, resource: Resource<Infer<Spec>, Infer<Status>>) => void;
  /** Status judged only from what exists. Pure. */
  readonly observe: (resource: Resource<Infer<Spec>, Infer<Status>>, observed: Observed) => StatusInput<Infer<Status>>;
}

/** A kind with its types erased: what the runtime and the tools handle. */
export interface Kind extends ResourceType {
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly spec: ObjectSchema;
  readonly status: ObjectSchema;
  readonly rules: readonly Rule[];
  readonly scale: Scale | undefined;
  readonly columns: readonly Column[];
  readonly owns: readonly OwnedType[];
  readonly children: (scope: Construct, resource: Resource) => void;
  readonly observe: (resource: Resource, observed: Observed) => StatusInput<Record<string, unknown>>;
}

/**
 * A kind from its parts. Throws one error that lists everything that is wrong with it, each line with its path: what the API server
 * would refuse in the definition, and what would make the operator fail later (columns, scale paths, missing conditions).
 */
export function defineKind<Spec extends ObjectSchema, Status extends ObjectSchema>(
  props: KindProps<Spec, Status>,
): Kind {
  const { shortNames = [], categories = [], rules = [], scale, ...given } = props;
  // The API server has checked every stored resource against this very schema, so handing it over untyped is sound.
  const kind = {
    ...(given as unknown as Kind),
    scope: 'Namespaced' as const,
    shortNames,
    categories: ['reprise', ...categories],
    rules,
    scale,
  };
  const flaws = flawsOfKind(kind, rootSchemaOf(kind));
  if (flaws.length > 0) {
    throw new Error(
      [`the kind ${props.kind} cannot be defined:`, ...flaws.map((one) => `  ${one.path}: ${one.message}`)].join('\n'),
    );
  }
  return kind;
}

/** CEL rule for kinds whose children include a Service of the same name: Service names are stricter than names of resources. */
export const nameIsServiceName: Rule = {
  rule: "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  message:
    'the name is also the name of a Service: at most 63 lower-case letters, digits and dashes, first a letter, last a letter or digit',
  fieldPath: '.metadata.name',
};

/** The schema of the whole resource. `metadata`, `apiVersion` and `kind` are the API server's own. */
export function rootSchemaOf(kind: Kind): JsonSchema {
  const { properties, required } = specOf(kind);
  const hasRules = kind.rules.length > 0;
  return {
    type: 'object',
    description: kind.description,
    properties: { ...(hasRules && { metadata: nameOnly }), ...properties },
    ...(required && { required }),
    ...(hasRules && { 'x-kubernetes-validations': kind.rules }),
  };
}

/** A rule may name `.metadata.name` as its field only where the schema has it; nothing more of metadata may stand in one. */
const nameOnly: JsonSchema = { type: 'object', properties: { name: { type: 'string', maxLength: 253 } } };

/** Where nothing in the spec must be written, the spec itself need not be: its defaults are still filled in. */
function specOf(kind: Kind): Pick<JsonSchema, 'properties' | 'required'> {
  const spec = { description: 'What should be.', ...kind.spec.json };
  const status = { description: 'What is. Written by the operator.', ...kind.status.json };
  if (spec.required !== undefined) return { properties: { spec, status }, required: ['spec'] };
  return { properties: { spec: { ...spec, default: fillDefaults(spec, {}) }, status } };
}

const partOf = { 'app.kubernetes.io/part-of': 'reprise' };

/** The CustomResourceDefinition (apiextensions.k8s.io/v1), as plain JSON. */
export function definitionOf(kind: Kind): KubeObject {
  const { plural, shortNames, categories, scale } = kind;
  const names = { kind: kind.kind, listKind: `${kind.kind}List`, plural, singular: kind.kind.toLowerCase() };
  const version = {
    name: kind.version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: rootSchemaOf(kind) },
    subresources: { status: {}, ...(scale && { scale }) },
    additionalPrinterColumns: kind.columns,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: resourceNameOf(kind), labels: { ...partOf, 'app.kubernetes.io/component': 'definition' } },
    spec: { group: kind.group, names: { ...names, shortNames, categories }, scope: kind.scope, versions: [version] },
  };
}

/** The types that the operator watches for a kind: itself, then what it owns. */
export const watchesOf = (kind: Kind): readonly ResourceType[] => [kind, ...kind.owns];

/**
 * What the operator may do for a kind, and no more: it never creates or deletes resources of its own kinds. `finalizers` is for owner
 * references that block deletion; `get` on children for the one case that a create answers AlreadyExists.
 */
export function rulesOf(kind: Kind): readonly PolicyRule[] {
  const own = { apiGroups: [kind.group] };
  return [
    { ...own, resources: [kind.plural], verbs: ['get', 'list', 'watch'] },
    { ...own, resources: [`${kind.plural}/status`], verbs: ['patch'] },
    { ...own, resources: [`${kind.plural}/finalizers`], verbs: ['update'] },
    ...[...new Set(kind.owns.map((owned) => owned.group))].sort().map((group) => ({
      apiGroups: [group],
      resources: kind.owns
        .filter((owned) => owned.group === group)
        .map((owned) => owned.plural)
        .sort(),
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    })),
  ];
}

/**
 * ClusterRoles for users: viewer, editor and admin of a kind, each aggregated to the built-in role of that rank, so that whoever may
 * view, edit or administrate a namespace may do so with its resources. Nobody but the operator may write status.
 */
export function userRolesOf(kind: Kind): readonly KubeObject[] {
  const { plural, scale } = kind;
  const read = ['get', 'list', 'watch'];
  const write = ['create', 'update', 'patch', 'delete'];
  const role = (rank: string, aggregate: string, verbs: readonly string[], ofScale: readonly string[]): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `${resourceNameOf(kind)}-${rank}`,
      labels: { ...partOf, [`rbac.authorization.k8s.io/aggregate-to-${aggregate}`]: 'true' },
    },
    rules: [
      { apiGroups: [kind.group], resources: [plural], verbs },
      { apiGroups: [kind.group], resources: [`${plural}/status`], verbs: ['get'] },
      ...(scale ? [{ apiGroups: [kind.group], resources: [`${plural}/scale`], verbs: ofScale }] : []),
    ],
  });
  const scaling = ['get', 'update', 'patch'];
  return [
    role('viewer', 'view', read, ['get']),
    role('editor', 'edit', [...read, ...write], scaling),
    role('admin', 'admin', [...read, ...write, 'deletecollection'], scaling),
  ];
}
