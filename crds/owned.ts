/** The types of objects that kinds own, and what is read of each. One line per type. */
import type { Condition, KubeObject, ResourceType } from '../charts/resource.ts';

/** A type that children may have. `Live` is what `observe` sees of one; the cache keeps no other status field. */
export interface OwnedType<Live extends KubeObject = KubeObject> extends ResourceType {
  /** Fields of `status` that the cache keeps, because some `observe` reads them. */
  readonly statusFields: readonly string[];
  /** Type-level only: what a live object looks like. Never present at run time. */
  readonly live?: Live;
}

export interface LiveDeployment extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface LiveService extends KubeObject {
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly port: number; readonly nodePort?: number }[];
  };
}

export const Deployment: OwnedType<LiveDeployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
  statusFields: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'conditions',
  ],
};

export const Service: OwnedType<LiveService> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
  statusFields: [],
};
