/**
 * What a kind is: data plus pure functions. Everything else (CRD, RBAC, watches, docs) follows from this value.
 */
import type { Construct } from 'constructs';
import type { Condition, KubeObject, ObjectMeta, ResourceType } from '../charts/resource.ts';
import type { OwnedType } from './owned.ts';
import type { Infer, ObjectSchema, Rule } from './schema.ts';

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
