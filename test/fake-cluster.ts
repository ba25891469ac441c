/**
 * An API server in this process, without sockets and without time: for tests of the engine. It keeps objects, counts
 * requests and feeds caches; what a real server merges, defaults and owns is for the cluster tests.
 */
import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf, resourceNameOf, type KubeObject, type ResourceType } from '../charts/resource.ts';
import type { Client, JsonPatchOperation, ObjectRef } from '../operator/kube/client.ts';
import { ApiError } from '../operator/kube/errors.ts';
import type { Cache, Change, ChangeListener } from '../operator/watch/reader.ts';
import { Store } from '../operator/watch/store.ts';

type Fields = Record<string, unknown>;
type Verb = 'create' | 'get' | 'apply' | 'jsonPatch' | 'patchStatus' | 'delete';

interface Armed {
  readonly verb: Verb;
  readonly type: string;
  readonly error: unknown;
  left: number;
}

export class FakeCluster {
  /** `create Deployment web`, in order. */
  readonly requests: string[] = [];
  /** Bodies of writes, in the same order as those in `requests`. */
  readonly bodies: unknown[] = [];
  readonly #objects = new Map<string, KubeObject>();
  readonly #caches = new Map<string, FakeCache>();
  readonly #armed: Armed[] = [];
  /** Whether watch events of our own writes arrive, just before the answers. */
  echoes = false;
  /** Called in the middle of each request: for what happens meanwhile. */
  meanwhile: (request: string) => void | Promise<void> = () => undefined;
  #version = 100;
  #uid = 0;

  /** The cache of a type, as the operator has it: fed by what happens here. */
  cacheOf(type: ResourceType, selects: (object: KubeObject) => boolean = () => true): FakeCache {
    const known = this.#caches.get(resourceNameOf(type));
    if (known !== undefined) return known;
    const cache = new FakeCache(selects);
    this.#caches.set(resourceNameOf(type), cache);
    return cache;
  }

  /** The next `times` requests of that verb and type are refused so. */
  refuse(verb: Verb, type: ResourceType, error: unknown, times = 1): void {
    this.#armed.push({ verb, type: resourceNameOf(type), error, left: times });
  }

  /** Refuses nothing any more. */
  relent(): void {
    this.#armed.length = 0;
  }

  /** What is stored, by no request. */
  read(type: ResourceType, namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(placeOf(type, { namespace, name }));
  }

  /** Somebody else creates or changes an object; the caches hear of it. */
  put(type: ResourceType, object: KubeObject): KubeObject {
    const before = this.#objects.get(placeOf(type, object.metadata));
    const stored = this.#store(type, {
      ...object,
      metadata: { ...object.metadata, uid: object.metadata.uid ?? before?.metadata.uid ?? this.#newUid() },
    });
    this.#caches.get(resourceNameOf(type))?.see(stored);
    return stored;
  }

  /** Somebody else deletes it, or the garbage collector. */
  drop(type: ResourceType, namespace: string, name: string): void {
    const place = placeOf(type, { namespace, name });
    const object = this.#objects.get(place);
    if (object === undefined) throw new Error(`there is no ${place}`);
    this.#objects.delete(place);
    this.#caches.get(resourceNameOf(type))?.lose(this.#versioned(object));
  }

  readonly client: Client = {
    list: () => Promise.reject(new Error('the engine lists nothing: it has caches')),
    watch: () => {
      throw new Error('the engine watches nothing: it has caches');
    },
    get: (type, ref) => this.#request(['get', type, ref], () => this.#existing(type, ref)),
    create: (type, object) =>
      this.#request(['create', type, object.metadata], () => this.#create(type, object), object),
    apply: (type, object) => this.#request(['apply', type, object.metadata], () => this.#apply(type, object), object),
    jsonPatch: (type, ref, patch) =>
      this.#request(['jsonPatch', type, ref], () => this.#jsonPatch(type, ref, patch), patch),
    patchStatus: (type, ref, patch) =>
      this.#request(['patchStatus', type, ref], () => this.#patchStatus(type, ref, patch), patch),
    delete: (type, ref, options) =>
      this.#request(['delete', type, ref], () => this.#delete(type, ref, options.uid), options),
  };

  async #request<T>(
    [verb, type, ref]: readonly [Verb, ResourceType, ObjectRef],
    answer: () => T,
    body?: unknown,
  ): Promise<T> {
    const request = `${verb} ${type.kind} ${ref.name}`;
    this.requests.push(request);
    if (body !== undefined) this.bodies.push(structuredClone(body));
    await this.meanwhile(request);
    const armed = this.#armed.find((each) => each.verb === verb && each.type === resourceNameOf(type) && each.left > 0);
    if (armed === undefined) return answer();
    armed.left -= 1;
    throw armed.error;
  }

  #create(type: ResourceType, object: KubeObject): KubeObject {
    const place = placeOf(type, object.metadata);
    if (this.#objects.has(place)) throw refusal(409, 'AlreadyExists', `${place} already exists`);
    const managedFields = [{ manager: 'reprise', operation: 'Update' }];
    const metadata = { ...object.metadata, uid: this.#newUid(), generation: 1, managedFields };
    return this.#echo(type, this.#store(type, { ...object, metadata }));
  }

  #apply(type: ResourceType, object: KubeObject): KubeObject {
    const before = this.#objects.get(placeOf(type, object.metadata));
    if (before === undefined) throw refusal(409, 'Conflict', 'no object of that uid');
    if (before.metadata.uid !== object.metadata.uid) throw uidIsImmutable;
    return this.#echo(type, this.#store(type, merged(before, object) as KubeObject));
  }

  #jsonPatch(type: ResourceType, ref: ObjectRef, patch: readonly JsonPatchOperation[]): KubeObject {
    const before = this.#existing(type, ref);
    const after = structuredClone(before) as unknown as Fields;
    for (const operation of patch) {
      const [last = '', ...way] = operation.path.split('/').slice(1).reverse();
      const holder = way.reverse().reduce((value, name) => value[name] as Fields, after);
      if (operation.op === 'test' && !isDeepStrictEqual(holder[last], operation.value)) {
        throw refusal(422, 'Invalid', `the test of ${operation.path} failed`);
      }
      if (operation.op === 'replace') holder[last] = operation.value;
    }
    const patched = after as unknown as KubeObject;
    if (patched.metadata.resourceVersion !== before.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', 'the object has been modified');
    }
    return this.#echo(type, this.#store(type, patched));
  }

  #patchStatus(type: ResourceType, ref: ObjectRef, patch: Fields): KubeObject {
    const before = this.#existing(type, ref);
    const { uid, resourceVersion } = patch['metadata'] as Fields;
    if (uid !== before.metadata.uid || resourceVersion !== before.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', 'the object has been modified');
    }
    const status = merged(before['status'] ?? {}, patch['status'], true);
    return this.#echo(type, this.#store(type, { ...before, status }));
  }

  #delete(type: ResourceType, ref: ObjectRef, uid: string): void {
    const before = this.#objects.get(placeOf(type, ref));
    if (before?.metadata.uid !== uid) return;
    this.#objects.delete(placeOf(type, ref));
    if (this.echoes) this.#caches.get(resourceNameOf(type))?.lose(this.#versioned(before));
  }

  #echo(type: ResourceType, stored: KubeObject): KubeObject {
    if (this.echoes) this.#caches.get(resourceNameOf(type))?.see(stored);
    return stored;
  }

  #existing(type: ResourceType, ref: ObjectRef): KubeObject {
    const object = this.#objects.get(placeOf(type, ref));
    if (object === undefined) throw refusal(404, 'NotFound', `${placeOf(type, ref)} not found`, ref.name);
    return object;
  }

  #store(type: ResourceType, object: KubeObject): KubeObject {
    const names = { apiVersion: apiVersionOf(type), kind: type.kind };
    const stored = this.#versioned({ ...structuredClone(object), ...names });
    this.#objects.set(placeOf(type, stored.metadata), stored);
    return stored;
  }

  #versioned(object: KubeObject): KubeObject {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
  }

  #newUid(): string {
    return `uid-${++this.#uid}`;
  }
}

const placeOf = (type: ResourceType, ref: ObjectRef): string =>
  `${resourceNameOf(type)} ${ref.namespace ?? ''}/${ref.name}`;

export const refusal = (status: number, reason: string, message: string, name?: string): ApiError =>
  new ApiError({ status, reason, message, ...(name !== undefined && { details: { name } }) });

const uidIsImmutable = new ApiError({
  ...{ status: 422, reason: 'Invalid', message: 'metadata.uid: field is immutable' },
  details: { causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid' }] },
});

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects by key, all else as a whole; with `nulls`, null removes (RFC 7386). */
function merged(before: unknown, after: unknown, nulls = false): unknown {
  if (!isFields(before) || !isFields(after)) return after;
  const result = { ...before };
  for (const [key, value] of Object.entries(after)) {
    if (nulls && value === null) Reflect.deleteProperty(result, key);
    else result[key] = merged(before[key], value, nulls);
  }
  return result;
}

/** A cache over the real store. What the server sends can be held back. */
export class FakeCache implements Cache {
  hasSynced = true;
  readonly #selects: (object: KubeObject) => boolean;
  readonly #listeners = new Set<ChangeListener>();
  readonly #store = new Store((change) => this.#notify(change));
  #held: (() => void)[] | undefined;

  constructor(selects: (object: KubeObject) => boolean) {
    this.#selects = selects;
  }

  get size(): number {
    return this.#store.size;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#store.get(namespace, name);
  }

  list(): Iterable<KubeObject> {
    return this.#store.list();
  }

  ownedBy(uid: string): readonly KubeObject[] {
    return this.#store.ownedBy(uid);
  }

  written(object: KubeObject): void {
    this.#store.written(object);
  }

  deleted(namespace: string, name: string, uid: string): void {
    this.#store.deleted(namespace, name, uid);
  }

  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** From now on nothing arrives until `release`. */
  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) event();
  }

  see(object: KubeObject): void {
    this.#arrive(() => (this.#selects(object) ? this.#store.upsert(object) : this.#store.remove(object)));
  }

  lose(object: KubeObject): void {
    this.#arrive(() => this.#store.remove(object));
  }

  #arrive(event: () => void): void {
    if (this.#held === undefined) event();
    else this.#held.push(event);
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
