/** The client: one method per request that the operator makes. The façade of this folder. */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { apiVersionOf } from '../../charts/resource.ts';
import { systemClock, type Clock, type Random } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type {
  Client,
  DeleteOptions,
  JsonPatchOperation,
  ListPage,
  ListQuery,
  ObjectRef,
  WatchEvent,
  WatchQuery,
} from './client.ts';
import type { Connection } from './connection.ts';
import { isConflict, isNotFound, ProtocolError } from './errors.ts';
import { collectionPath, listParameters, objectPath, queryString, watchParameters } from './paths.ts';
import { Requester } from './requester.ts';
import { defaultLimits, type Limits } from './transport.ts';
import { watchEvents } from './watch-stream.ts';

export { inClusterConnection } from './in-cluster.ts';
export { kubeconfigConnection, KubeconfigError } from './kubeconfig.ts';

export interface ClientProps {
  readonly connection: Connection;
  /** Who writes, in managedFields. */
  readonly fieldManager: string;
  /** Who asks, in the API server's audit log and metrics. @default reprise */
  readonly userAgent?: string;
  readonly observer?: Pick<Observer, 'request'>;
  readonly log?: Log;
  /** @default the system's */
  readonly clock?: Clock;
  /** @default Math.random */
  readonly random?: Random;
  readonly limits?: Partial<Limits>;
}

export interface ClosableClient extends Client {
  /** Closes every connection, also those in use. */
  close(): void;
}

const json = 'application/json';
const applyPatch = 'application/apply-patch+yaml';
const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';

interface RawList {
  readonly items?: readonly KubeObject[] | null;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

/** The items of a list of a built-in type come without apiVersion and kind; those of a watch have them. */
const pageOf = (type: ResourceType, list: RawList): ListPage => {
  const resourceVersion = list.metadata?.resourceVersion;
  if (resourceVersion === undefined) throw new ProtocolError(`the list of ${type.plural} has no resourceVersion`);
  const names = { apiVersion: apiVersionOf(type), kind: type.kind };
  const token = list.metadata?.continue;
  return {
    items: (list.items ?? []).map((item) => ({ ...item, ...names })),
    resourceVersion,
    ...(token !== undefined && token !== '' && { continue: token }),
  };
};

/**
 * Retries: a 429 or 503 that carries a short Retry-After is tried again here, a few times (the server did nothing yet); a
 * 401 once, with fresh credentials; a GET once when a kept connection turned out to be closed. All else is the caller's.
 */
export const createClient = (props: ClientProps): ClosableClient => {
  const limits = { ...defaultLimits, ...props.limits };
  const clock = props.clock ?? systemClock;
  const requester = new Requester({ ...props, limits, clock, random: props.random ?? Math.random });
  const { fieldManager } = props;
  const write = (method: string, path: string, contentType: string, body: unknown) => ({
    method,
    path,
    contentType,
    body: JSON.stringify(body),
  });
  const withManager = queryString({ fieldManager });

  return {
    list: async (type: ResourceType, query: ListQuery, signal: AbortSignal) => {
      const path = collectionPath(type, query.namespace) + listParameters(query);
      return pageOf(type, (await requester.json({ method: 'GET', path }, signal)) as RawList);
    },
    watch: (
      type: ResourceType,
      query: WatchQuery,
      signal: AbortSignal,
      opened?: () => void,
    ): AsyncGenerator<WatchEvent, void, void> => {
      const path = collectionPath(type, query.namespace) + watchParameters(query);
      return watchEvents(
        () => requester.stream({ method: 'GET', path, stream: true }, signal, opened),
        limits.eventBytes,
      );
    },
    get: (type: ResourceType, ref: ObjectRef, signal: AbortSignal) =>
      requester.object({ method: 'GET', path: objectPath(type, ref) }, signal),
    create: (type: ResourceType, object: KubeObject, signal: AbortSignal) => {
      const path = collectionPath(type, object.metadata.namespace) + withManager;
      return requester.object(write('POST', path, json, object), signal);
    },
    apply: (type: ResourceType, object: KubeObject, signal: AbortSignal) => {
      const path = objectPath(type, object.metadata) + queryString({ fieldManager, force: true });
      return requester.object(write('PATCH', path, applyPatch, object), signal);
    },
    jsonPatch: (type: ResourceType, ref: ObjectRef, patch: readonly JsonPatchOperation[], signal: AbortSignal) =>
      requester.object(write('PATCH', objectPath(type, ref) + withManager, jsonPatch, patch), signal),
    patchStatus: (type: ResourceType, ref: ObjectRef, patch: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
      requester.object(write('PATCH', `${objectPath(type, ref)}/status${withManager}`, mergePatch, patch), signal),
    delete: async (type: ResourceType, ref: ObjectRef, options: DeleteOptions, signal: AbortSignal) => {
      try {
        await requester.json(write('DELETE', objectPath(type, ref), json, deleteBody(options)), signal);
      } catch (error) {
        if (!isNotFound(error) && !isOther(error, options)) throw error;
      }
    },
    close: () => requester.close(),
  };
};

/** The only precondition was the UID: the name belongs to another object now, so that this one is gone. */
const isOther = (error: unknown, options: DeleteOptions): boolean =>
  isConflict(error) && options.resourceVersion === undefined;

const deleteBody = (options: DeleteOptions): unknown => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions: {
    uid: options.uid,
    ...(options.resourceVersion !== undefined && { resourceVersion: options.resourceVersion }),
  },
  ...(options.propagationPolicy !== undefined && { propagationPolicy: options.propagationPolicy }),
});
