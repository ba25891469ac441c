/**
 * From a resource to the manifests of its children: the kind's constructs played in a fresh cdk8s App, then what the
 * engine adds to each (namespace, owner reference, label, hash), then checks. Deterministic: equal input, equal bytes.
 */
import { App, Chart, type ApiObject } from 'cdk8s';
import { managedByLabel, operatorName } from '../../charts/labels.ts';
import { apiVersionOf, resourceNameOf, type KubeObject } from '../../charts/resource.ts';
import type { Kind, Resource } from '../../crds/kind.ts';
import type { OwnedType } from '../../crds/owned.ts';
import { deepFreeze, isObject, shortHash, sorted } from './canonical.ts';
import { desiredHashAnnotation, ownerReferenceTo } from './ownership.ts';

/** What is wrong with what a kind's `children` made. All but `Threw` are mistakes in the kind's code. */
export type RenderFault =
  | 'Threw'
  | 'NotSynchronous'
  | 'NoName'
  | 'Duplicate'
  | 'NotOwned'
  | 'ClusterScoped'
  | 'OtherNamespace'
  | 'HasOwner'
  | 'HasStatus'
  | 'PathLabel';

/** The children cannot be rendered. The same resource fails in the same way again: nobody retries before it changes. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason = 'RenderFailed';
  readonly fault: RenderFault;

  constructor(fault: RenderFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/** A child as it should be. */
export interface Desired {
  readonly type: OwnedType;
  readonly object: KubeObject;
  readonly hash: string;
  /** `Deployment web`, for messages. */
  readonly id: string;
  /** `deployments.apps/web`, among the children of one resource. */
  readonly key: string;
}

/**
 * What should exist for the resource, in the order of the constructs' dependencies. `children` sees identity, labels,
 * annotations, generation and spec of the resource, frozen, and neither status nor anything else that changes by itself.
 * Throws RenderError.
 */
export const renderChildren = (kind: Kind, resource: Resource): readonly KubeObject[] =>
  desiredChildren(kind, resource).map(({ object }) => object);

/** The same with the type and hash of each. */
export function desiredChildren(kind: Kind, resource: Resource): readonly Desired[] {
  const desired = synthesized(kind, visibleOf(resource)).map((manifest) => desiredOf(kind, resource, manifest));
  const seen = new Set<string>();
  for (const { id, key } of desired) {
    if (seen.has(key)) throw new RenderError('Duplicate', `${id} is rendered twice: give each child a name of its own`);
    seen.add(key);
  }
  return desired;
}

/** The part of a resource that its children may depend on. */
export function visibleOf(resource: Resource): Resource {
  const { name, namespace, uid, generation, labels, annotations } = resource.metadata;
  const metadata = {
    ...{ name, namespace, uid, generation },
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  };
  return deepFreeze({ apiVersion: resource.apiVersion, kind: resource.kind, metadata, spec: resource.spec });
}

/** cdk8s makes names of construct paths up; with one, moving a construct would replace the object. */
class NamedChart extends Chart {
  override generateObjectName(object: ApiObject): string {
    const construct = `${object.kind} of the construct '${object.node.path}'`;
    throw new RenderError('NoName', `the ${construct} has no metadata.name: children are named explicitly`);
  }
}

function synthesized(kind: Kind, resource: Resource): readonly KubeObject[] {
  const chart = new NamedChart(new App(), 'children', { namespace: resource.metadata.namespace });
  try {
    const children: (scope: Chart, resource: Resource) => unknown = kind.children;
    const returned = children(chart, resource);
    if (returned instanceof Promise) {
      returned.catch(() => undefined);
      throw new RenderError('NotSynchronous', `children of ${kind.kind} is asynchronous: it must return nothing`);
    }
    return chart.toJson() as readonly KubeObject[];
  } catch (error) {
    if (error instanceof RenderError) throw error;
    throw new RenderError('Threw', `rendering the children failed: ${messageOf(error)}`, error);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function desiredOf(kind: Kind, resource: Resource, manifest: KubeObject): Desired {
  const id = `${manifest.kind} ${manifest.metadata.name}`;
  const type = typeOf(kind, manifest, id);
  refuse(manifest, resource, id);
  const { labels, annotations, ...identity } = manifest.metadata;
  const metadata = {
    ...identity,
    namespace: resource.metadata.namespace,
    labels: { ...labels, [managedByLabel]: operatorName },
    ownerReferences: [ownerReferenceTo(kind, resource)],
  };
  const object = sorted({ ...manifest, metadata: { ...metadata, annotations } }) as KubeObject;
  const hash = shortHash(object);
  const marked = { ...object.metadata, annotations: { ...annotations, [desiredHashAnnotation]: hash } };
  const key = childKey(type, manifest.metadata.name);
  return { type, hash, id, key, object: { ...object, metadata: sorted(marked) as KubeObject['metadata'] } };
}

/** What tells children of one resource apart. */
export const childKey = (type: OwnedType, name: string): string => `${resourceNameOf(type)}/${name}`;

function typeOf(kind: Kind, manifest: KubeObject, id: string): OwnedType {
  const type = kind.owns.find((owned) => owned.kind === manifest.kind && apiVersionOf(owned) === manifest.apiVersion);
  if (type === undefined) {
    const owned = kind.owns.map((each) => `${apiVersionOf(each)} ${each.kind}`).join(', ');
    throw new RenderError(
      'NotOwned',
      `${id} (${manifest.apiVersion}) is not of a type that ${kind.kind} owns: ${owned}`,
    );
  }
  if (type.scope === 'Cluster') {
    throw new RenderError('ClusterScoped', `${id} has no namespace: a namespaced resource cannot own it`);
  }
  return type;
}

function refuse(manifest: KubeObject, resource: Resource, id: string): void {
  const { namespace, ownerReferences } = manifest.metadata;
  const own = resource.metadata.namespace;
  if (namespace !== undefined && namespace !== own)
    throw new RenderError(
      'OtherNamespace',
      `${id} is in namespace ${namespace}: children live in their owner's, ${own}`,
    );
  if (ownerReferences !== undefined)
    throw new RenderError('HasOwner', `${id} brings ownerReferences: the engine sets them`);
  if (manifest['status'] !== undefined) throw new RenderError('HasStatus', `${id} brings a status: leave it out`);
  if (hasKey(manifest, pathLabel))
    throw new RenderError(
      'PathLabel',
      `${id} has the label ${pathLabel}, which changes when a construct moves: set own labels`,
    );
}

const pathLabel = 'cdk8s.io/metadata.addr';

const hasKey = (value: unknown, key: string): boolean => {
  if (Array.isArray(value)) return value.some((part) => hasKey(part, key));
  return isObject(value) && (key in value || Object.values(value).some((part) => hasKey(part, key)));
};
