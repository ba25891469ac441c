/**
 * What a leg is about, made before its time runs: the WebServers that the load generator creates, and for each the least that has to
 * be written for it, rendered by the operator's own code.
 */
import type { KubeObject, ResourceType } from '../charts/resource.ts';
import { fillDefaults } from '../crds/defaults.ts';
import type { Observed, Resource } from '../crds/kind.ts';
import { WebServer } from '../crds/webserver/index.ts';
import { desiredChildren } from '../operator/controller/render.ts';
import { statusOf } from '../operator/controller/status.ts';
import type { Child, Errand } from './floor-order.ts';

export interface Planned extends Errand {
  /** As a user would write it. */
  readonly server: KubeObject;
}

/** As long as a real one, so that the bytes on the wire are as many. */
const uidToCome = '00000000-0000-4000-8000-000000000000';

/** Deployment, Service and one status. */
export const leastWritesPerResource = 3;

export const planOf = (namespace: string, n: number): readonly Planned[] =>
  Array.from({ length: n }, (_, index) => plannedOf(namespace, `web-${String(index).padStart(5, '0')}`));

function plannedOf(namespace: string, name: string): Planned {
  const written = { replicas: 1 };
  const metadata = { name, namespace };
  const server = {
    apiVersion: `${WebServer.group}/${WebServer.version}`,
    kind: WebServer.kind,
    metadata,
    spec: written,
  };
  const stored: Resource = {
    ...server,
    metadata: { ...metadata, uid: uidToCome, generation: 1 },
    spec: fillDefaults(WebServer.spec.json, written),
  };
  const children = desiredChildren(WebServer, stored).map(({ type, object }) => ({ type, object }));
  return { server, children, status: firstStatusOf(stored, children) };
}

/** The first status that the operator writes: the children are there, and no controller has looked at them yet. */
function firstStatusOf(stored: Resource, children: readonly Child[]): Errand['status'] {
  const found = { get: (type: ResourceType) => children.find((child) => child.type === type)?.object, all: () => [] };
  return statusOf(stored, WebServer.observe(stored, found as unknown as Observed), undefined, Date.now());
}
