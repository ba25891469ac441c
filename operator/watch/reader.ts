/** What the rest of the operator sees of a cache: the contract between the watch machine and the controller. */
import type { KubeObject } from '../../charts/resource.ts';

/** A change of the cache. The receiver gets a nudge to look, never the truth itself: read the cache at work time. */
export interface Change {
  readonly type: 'added' | 'modified' | 'deleted';
  readonly object: KubeObject;
  /** Present for modified and deleted. */
  readonly previous?: KubeObject;
  /** Part of the first list (or of a relist), not news. */
  readonly initial: boolean;
}

export type ChangeListener = (change: Change) => void;

/** Many readers. Objects are frozen in spirit: never change one. */
export interface Reader {
  readonly hasSynced: boolean;
  /** `namespace` is '' for cluster-scoped types. */
  get(namespace: string, name: string): KubeObject | undefined;
  list(): Iterable<KubeObject>;
  /** Objects whose controller owner reference has that UID. */
  ownedBy(uid: string): readonly KubeObject[];
  readonly size: number;
  /** Returns the function that unsubscribes. */
  subscribe(listener: ChangeListener): () => void;
}

/** How the controller puts the answers to its own writes into the cache, so that it reads them at once. */
export interface WriteThrough {
  /** The answer to a create or update. Never undone by an older watch event, and does not notify. */
  written(object: KubeObject): void;
  /** A delete of ours was accepted for that UID: the object is hidden at once. */
  deleted(namespace: string, name: string, uid: string): void;
}

/** One per resource type (and watched namespace set), however many readers. */
export interface Cache extends Reader, WriteThrough {}
