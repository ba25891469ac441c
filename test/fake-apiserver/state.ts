/**
 * What an API server knows: objects, their history, and how far back it remembers. No HTTP here. Small and slow on purpose:
 * every earlier state is computed from the log, so that lists and watches from any version are right by construction.
 */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { apiVersionOf, resourceNameOf } from '../../charts/resource.ts';
import { refusal, type Refusal } from './status.ts';

/** An object while it is being made. */
export interface MutableObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    finalizers?: string[];
    managedFields?: Manager[];
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export interface Commit {
  readonly version: number;
  readonly resource: string;
  readonly key: string;
  /** Absent: created. */
  readonly before?: KubeObject;
  /** Absent: deleted. */
  readonly after?: KubeObject;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Who writes, as managedFields has it. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource?: string;
}

/** Fields of built-in types are known to the server: some have no generation, and list items name no type. */
export const isBuiltIn = ({ group }: ResourceType): boolean => !group.includes('.') || group.endsWith('.k8s.io');

/** By way of JSON: objects from elsewhere may have other prototypes within jest. */
const copyOf = (object: KubeObject): MutableObject => JSON.parse(JSON.stringify(object)) as MutableObject;
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Notes the manager, once; Apply comes before Update, the main resource before its subresources. */
const manages = (object: MutableObject, by: Manager): void => {
  const entries = object.metadata.managedFields ?? [];
  if (entries.some((entry) => isSame(entry, by))) return;
  const rank = (entry: Manager): string => `${entry.operation} ${entry.subresource ?? ''}`;
  object.metadata.managedFields = [...entries, by].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
};

export const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

const firstVersion = 1000;

export class FakeState {
  #log: Commit[] = [];
  readonly #current = new Map<string, KubeObject>();
  readonly #listeners = new Set<(commit: Commit) => void>();
  #version = firstVersion;
  #oldest = 0;
  #uids = 0;

  get version(): number {
    return this.#version;
  }

  /** Watches and continued lists from before this version get 410. */
  get oldest(): number {
    return this.#oldest;
  }

  /** Forgets everything before that version (now, if absent), as etcd does every five minutes. */
  compact(version = this.#version): void {
    this.#oldest = version;
  }

  /** Time passes without a change of these types: other types were written. */
  skipVersions(count: number): void {
    this.#version += count;
  }

  subscribe(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get(type: ResourceType, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#current.get(`${resourceNameOf(type)} ${keyOf(namespace, name)}`);
  }

  /** Sorted by namespace and name, as of that version. */
  list(type: ResourceType, version = this.#version): KubeObject[] {
    const resource = resourceNameOf(type);
    const objects = new Map<string, KubeObject>();
    for (const commit of this.#log) {
      if (commit.resource !== resource || commit.version > version) continue;
      if (commit.after === undefined) objects.delete(commit.key);
      else objects.set(commit.key, commit.after);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  commitsAfter(type: ResourceType, version: number): Commit[] {
    return this.#log.filter((commit) => commit.resource === resourceNameOf(type) && commit.version > version);
  }

  create(type: ResourceType, given: KubeObject, by: Manager): KubeObject | Refusal {
    const { name, namespace } = given.metadata;
    if (this.get(type, namespace, name) !== undefined) {
      return refusal(409, 'AlreadyExists', `${resourceNameOf(type)} "${name}" already exists`, {
        name,
        kind: type.plural,
      });
    }
    const object = copyOf(given);
    object.apiVersion = apiVersionOf(type);
    object.kind = type.kind;
    this.#uids += 1;
    object.metadata.uid = `uid-${this.#uids}`;
    object.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
    if (!isBuiltIn(type) || object.spec !== undefined) object.metadata.generation = 1;
    object.metadata.managedFields = [];
    manages(object, by);
    return this.#commit(type, undefined, object);
  }

  /**
   * Puts what `change` makes of the object in its place. Nothing is written, and the version stays, when nothing differs.
   * Gives the answer to the request: of an object that ends by it, what it became last, at the version that it had.
   */
  update(type: ResourceType, before: KubeObject, change: (object: MutableObject) => void, by?: Manager): KubeObject {
    const object = copyOf(before);
    change(object);
    if (isSame(object, before)) return before;
    if (by !== undefined) manages(object, by);
    const isMarked = object.metadata.deletionTimestamp !== before.metadata.deletionTimestamp;
    if (!isSame(object.spec, before.spec) || isMarked)
      object.metadata.generation = (before.metadata.generation ?? 0) + 1;
    const ends = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
    if (!ends) return this.#commit(type, before, object);
    this.#end(type, before);
    delete object.metadata.managedFields;
    return object;
  }

  /** With finalizers the object stays, marked; without, it is gone. */
  delete(type: ResourceType, before: KubeObject): KubeObject {
    if ((before.metadata.finalizers ?? []).length === 0) return this.#end(type, before);
    return this.update(type, before, ({ metadata }) => void (metadata.deletionTimestamp ??= '2026-01-01T00:00:01Z'));
  }

  /** Deletes an object and its whole history, so that a long test does not pile it up. */
  forget(type: ResourceType, before: KubeObject): void {
    this.#end(type, before);
    const key = keyOf(before.metadata.namespace, before.metadata.name);
    this.#log = this.#log.filter((commit) => commit.key !== key || commit.resource !== resourceNameOf(type));
  }

  #end(type: ResourceType, before: KubeObject): KubeObject {
    this.#record({ ...this.#next(type, before), before });
    return { ...before, metadata: { ...before.metadata, resourceVersion: String(this.#version) } };
  }

  #commit(type: ResourceType, before: KubeObject | undefined, object: MutableObject): KubeObject {
    const next = this.#next(type, object);
    object.metadata.resourceVersion = String(next.version);
    this.#record({ ...next, after: object, ...(before !== undefined && { before }) });
    return object;
  }

  #next(type: ResourceType, object: { readonly metadata: { readonly namespace?: string; readonly name: string } }) {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    return { version: this.#version + 1, resource: resourceNameOf(type), key };
  }

  #record(commit: Commit): void {
    this.#version = commit.version;
    this.#log.push(commit);
    const at = `${commit.resource} ${commit.key}`;
    if (commit.after === undefined) this.#current.delete(at);
    else this.#current.set(at, commit.after);
    for (const listener of [...this.#listeners]) listener(commit);
  }
}
