/** Whose a child is. Names are no identity: only the controller's UID, or proof that we wrote the object, counts. */
import type { KubeObject, OwnerReference, ResourceType } from '../../charts/resource.ts';
import { apiVersionOf } from '../../charts/resource.ts';
import type { Resource } from '../../crds/kind.ts';

/** On every child: hash of the manifest as it was rendered. Says what we last wanted, whatever the server made of it. */
export const desiredHashAnnotation = 'reprise.dev/desired-hash';

/** The reference that makes `resource` the controller of a child; the garbage collector goes by it. */
export const ownerReferenceTo = (type: ResourceType, resource: Resource): OwnerReference => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  name: resource.metadata.name,
  uid: resource.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);

export const hashOf = (object: KubeObject): string | undefined => object.metadata.annotations?.[desiredHashAnnotation];

/**
 * Whether a live object is the child of `resource`. Its controller decides. Where somebody has taken our owner reference
 * off, the hash of the wanted manifest does: it covers the reference with the resource's UID, so nobody else has it.
 */
export function belongsTo(live: KubeObject, resource: Resource, desiredHash: string): boolean {
  const controller = controllerOf(live);
  if (controller !== undefined) return controller.uid === resource.metadata.uid;
  const isReferred = live.metadata.ownerReferences?.some((owner) => owner.uid === resource.metadata.uid) === true;
  return isReferred || hashOf(live) === desiredHash;
}

/** Whether a live object's controller is a resource of the same kind and name that came before: same name, another UID. */
export function isOfPredecessor(live: KubeObject, type: ResourceType, resource: Resource): boolean {
  const controller = controllerOf(live);
  return (
    controller?.kind === type.kind &&
    controller.name === resource.metadata.name &&
    controller.uid !== resource.metadata.uid &&
    controller.apiVersion.split('/')[0] === type.group
  );
}
