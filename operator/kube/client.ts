/**
 * The client's contract. Thin: one method per request that the operator makes; no cache, no retry but Retry-After.
 */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';

/** Names one object; `namespace` is absent for cluster-scoped types. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

export interface ListQuery {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}

export interface ListPage {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last one. */
  readonly continue?: string;
}

export interface WatchQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  /** Streaming list: state first, then a bookmark annotated `k8s.io/initial-events-end`, then changes. KEP-3157. */
  readonly sendInitialEvents?: boolean;
  /** The server ends the watch politely after so long. */
  readonly timeoutSeconds?: number;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** For ERROR a Status. */
  readonly object: KubeObject;
}

export interface DeleteOptions {
  /** Precondition: only this very object, never a later one of the same name. */
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * Every call takes an AbortSignal last and throws ApiError (errors.ts) for any answer but 2xx. The caller decides about retries.
 * Writes carry the field manager `reprise`.
 */
export interface Client {
  list(type: ResourceType, query: ListQuery, signal: AbortSignal): Promise<ListPage>;
  /** Ends when the server ends the stream; throws when the connection breaks. `opened` is called when the server has accepted it. */
  watch(
    type: ResourceType,
    query: WatchQuery,
    signal: AbortSignal,
    opened?: () => void,
  ): AsyncGenerator<WatchEvent, void, void>;
  get(type: ResourceType, ref: ObjectRef, signal: AbortSignal): Promise<KubeObject>;
  create(type: ResourceType, object: KubeObject, signal: AbortSignal): Promise<KubeObject>;
  /** Server-side apply with force. */
  apply(type: ResourceType, object: KubeObject, signal: AbortSignal): Promise<KubeObject>;
  /** RFC 6902. */
  jsonPatch(
    type: ResourceType,
    ref: ObjectRef,
    patch: readonly JsonPatchOperation[],
    signal: AbortSignal,
  ): Promise<KubeObject>;
  /**
   * RFC 7386 on the status subresource. `metadata.resourceVersion` is a precondition, and the only one: a real server ignores
   * `metadata.uid` there (measured, 1.36; test/fake-apiserver/scenario.ts holds us to it).
   */
  patchStatus(
    type: ResourceType,
    ref: ObjectRef,
    patch: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<KubeObject>;
  /** Resolves also when the object was already gone. */
  delete(type: ResourceType, ref: ObjectRef, options: DeleteOptions, signal: AbortSignal): Promise<void>;
}

export type JsonPatchOperation =
  | { readonly op: 'test' | 'replace' | 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };
