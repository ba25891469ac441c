/**
 * The nouns of the Kubernetes API that every layer shares: what a type is, what an object is. Types and tiny functions
 * only, no library, so that the lowest layer of the operator may import it too.
 */

/** A resource type as the API server serves it. `group` is '' for the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
}

/** Metadata as it stands in the API. Fields that only a stored object has are optional. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any object of the Kubernetes API, as plain JSON. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Condition as in the API conventions (metav1.Condition). */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

/** `apps/v1`, or `v1` for the core group. */
export const apiVersionOf = (type: Pick<ResourceType, 'group' | 'version'>): string =>
  type.group === '' ? type.version : `${type.group}/${type.version}`;

/** `deployments.apps`, or `services` for the core group: the name of a type regardless of its version. */
export const resourceNameOf = (type: Pick<ResourceType, 'group' | 'plural'>): string =>
  type.group === '' ? type.plural : `${type.plural}.${type.group}`;

/** One rule of a Role or ClusterRole, as in rbac.authorization.k8s.io/v1. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}
