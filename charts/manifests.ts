/** Objects that are plain JSON already. */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { KubeObject } from './resource.ts';

/**
 * Adds the objects as they are. Custom resource definitions go through here because the typed construct of cdk8s-plus-28 drops every
 * x-kubernetes-* key without a word.
 */
export function addManifests(scope: Construct, objects: readonly KubeObject[]): void {
  for (const object of objects)
    new ApiObject(scope, `${object.kind}-${object.metadata.name}`, { ...object, metadata: metadataOf(object) });
}

const metadataOf = ({ metadata: { name, namespace, labels, annotations } }: KubeObject) => ({
  name,
  ...(namespace !== undefined && { namespace }),
  ...(labels && { labels: { ...labels } }),
  ...(annotations && { annotations: { ...annotations } }),
});
