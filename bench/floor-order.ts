/** What the bench hands to the floor. Light on purpose: the floor imports no constructs. */
import type { KubeObject, ResourceType } from '../charts/resource.ts';

export interface FloorOrder {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly concurrency: number;
  /** Of the resources that are served. */
  readonly type: ResourceType;
  readonly byName: Readonly<Record<string, Errand>>;
}

/** What has to be written for one resource. */
export interface Errand {
  /** As the operator writes them, but for the UID of their owner, which the server has yet to give. */
  readonly children: readonly Child[];
  readonly status: Readonly<Record<string, unknown>>;
}

/** A child and the type it is created as. */
export interface Child {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** The child as it is created once its owner's UID is known. */
export function ownedBy(uid: string, child: KubeObject): KubeObject {
  const ownerReferences = (child.metadata.ownerReferences ?? []).map((reference) => ({ ...reference, uid }));
  return { ...child, metadata: { ...child.metadata, ownerReferences } };
}
