/**
 * The objects of one stream (one type in one namespace, or in all). One writer feeds it; our own writes go in beside. For
 * each object it only ever moves forward, whatever order events, lists and answers to our writes come in:
 *
 * - a version is taken only if its resourceVersion is newer than the one held;
 * - a UID whose deletion we asked for is hidden for good: whatever comes after can only be its end;
 * - an object newer than a list that lacks it stays: the list is older than what we know.
 *
 * Deletions are told to listeners once, when the server says that the object is gone, also when it was hidden before: our
 * request is a wish, the event is the fact, and someone may be waiting to reuse the name.
 */
import type { KubeObject } from '../../charts/resource.ts';
import type { Change } from './reader.ts';
import { isNewer, isOlder, isStale } from './resource-version.ts';

type Notify = (change: Change) => void;

/** How many ended UIDs are remembered against events that come twice. */
const rememberedEnds = 1024;

export const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

const keyOfObject = (object: KubeObject): string => keyOf(object.metadata.namespace, object.metadata.name);
const uidOf = (object: KubeObject): string => object.metadata.uid ?? '';
const versionOf = (object: KubeObject): string | undefined => object.metadata.resourceVersion;

const controllerOf = (object: KubeObject): string | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;

export class Store {
  readonly #notify: Notify;
  readonly #objects = new Map<string, KubeObject>();
  /** Controller UID -> keys. */
  readonly #owned = new Map<string, Set<string>>();
  /** Hidden UIDs, with what was last seen of them: deleted by us, or replaced by a newer object of the same name. */
  readonly #hidden = new Map<string, KubeObject>();
  /** UID -> resourceVersion of its end. Not for ever: an object may leave a label selector and come back. */
  readonly #ended = new Map<string, string | undefined>();
  #version: string | undefined;

  constructor(notify: Notify) {
    this.#notify = notify;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Where the stream stands: the newest version that it told of. */
  get version(): string | undefined {
    return this.#version;
  }

  /** UIDs kept besides the objects: the bound that tests hold it to. */
  get remembered(): number {
    return this.#hidden.size + this.#ended.size;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  list(): Iterable<KubeObject> {
    return this.#objects.values();
  }

  ownedBy(uid: string): KubeObject[] {
    const keys = this.#owned.get(uid);
    if (keys === undefined) return [];
    return Array.from(keys, (key) => this.#objects.get(key)).filter((object) => object !== undefined);
  }

  /** ADDED or MODIFIED: both mean "this is how it is now". */
  upsert(object: KubeObject, initial = false): void {
    const current = this.#objects.get(keyOfObject(object));
    if (!this.#accepts(object, current)) return;
    if (current === undefined || uidOf(current) === uidOf(object)) {
      this.#put(object);
      this.#notify(
        current === undefined
          ? { type: 'added', object, initial }
          : { type: 'modified', object, previous: current, initial },
      );
      return;
    }
    this.#drop(current);
    this.#end(uidOf(current), versionOf(object));
    this.#notify({ type: 'deleted', object: current, previous: current, initial });
    this.#put(object);
    this.#notify({ type: 'added', object, initial });
  }

  /** DELETED. */
  remove(object: KubeObject, initial = false): void {
    const uid = uidOf(object);
    const hidden = this.#hidden.get(uid);
    const current = this.#objects.get(keyOfObject(object));
    const visible = current !== undefined && uidOf(current) === uid;
    // Left the selector, and our later write brought it back before this event came.
    if (visible && isOlder(versionOf(object), versionOf(current))) return;
    this.#hidden.delete(uid);
    this.#end(uid, versionOf(object));
    if (visible) this.#drop(current);
    const previous = visible ? current : hidden;
    if (previous !== undefined) this.#notify({ type: 'deleted', object, previous, initial });
  }

  /** Everything that the server has, as of `version`. In one go: no reader sees half of it. */
  replace(objects: readonly KubeObject[], version: string): void {
    const listed = new Set(objects.map(uidOf));
    const gone = (object: KubeObject): boolean => !listed.has(uidOf(object)) && !isNewer(versionOf(object), version);
    const missing = [...this.#objects.values(), ...this.#hidden.values()].filter(gone);
    for (const object of missing) this.remove(withVersion(object, version), true);
    for (const object of objects) this.upsert(object, true);
    this.#version = version;
  }

  /** The stream has told everything up to here. */
  advance(version: string | undefined): void {
    if (version !== undefined && !isStale(version, this.#version)) this.#version = version;
  }

  /** The answer to a write of ours: visible at once, told to nobody. */
  written(object: KubeObject): void {
    const current = this.#objects.get(keyOfObject(object));
    if (!this.#accepts(object, current)) return;
    const unknown = current === undefined || uidOf(current) !== uidOf(object);
    // The stream has passed this version and has no such object: it was gone again before our answer came.
    if (unknown && this.#version !== undefined && isStale(versionOf(object), this.#version)) return;
    if (unknown && current !== undefined) this.#hide(current);
    this.#put(object);
  }

  /** A delete of ours was accepted: hidden at once, told to listeners when the server says that it is gone. */
  deleted(namespace: string, name: string, uid: string): void {
    const current = this.#objects.get(keyOf(namespace, name));
    if (current === undefined || uidOf(current) !== uid) return;
    this.#hide(current);
  }

  /** Whether this version of an object is news. */
  #accepts(object: KubeObject, current: KubeObject | undefined): boolean {
    const uid = uidOf(object);
    if (this.#hidden.has(uid)) return false;
    if (current !== undefined) return !isStale(versionOf(object), versionOf(current));
    return !this.#ended.has(uid) || !isStale(versionOf(object), this.#ended.get(uid));
  }

  #put(object: KubeObject): void {
    const key = keyOfObject(object);
    const previous = this.#objects.get(key);
    const owner = controllerOf(object);
    if (previous !== undefined && controllerOf(previous) !== owner) this.#unindex(previous, key);
    this.#objects.set(key, object);
    if (owner === undefined) return;
    const keys = this.#owned.get(owner) ?? new Set();
    this.#owned.set(owner, keys.add(key));
  }

  #drop(object: KubeObject): void {
    const key = keyOfObject(object);
    this.#objects.delete(key);
    this.#unindex(object, key);
  }

  #hide(object: KubeObject): void {
    this.#drop(object);
    this.#hidden.set(uidOf(object), object);
  }

  #unindex(object: KubeObject, key: string): void {
    const owner = controllerOf(object);
    const keys = owner === undefined ? undefined : this.#owned.get(owner);
    keys?.delete(key);
    if (owner !== undefined && keys?.size === 0) this.#owned.delete(owner);
  }

  #end(uid: string, version: string | undefined): void {
    this.#ended.delete(uid);
    this.#ended.set(uid, version);
    if (this.#ended.size > rememberedEnds) this.#ended.delete(this.#ended.keys().next().value ?? '');
  }
}

const withVersion = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});
