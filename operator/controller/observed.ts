/** What `observe` sees: the live children of one resource, from the caches. */
import { resourceNameOf, type KubeObject } from '../../charts/resource.ts';
import type { Kind, Observed, Resource } from '../../crds/kind.ts';
import type { OwnedType } from '../../crds/owned.ts';
import type { Cache } from '../watch/reader.ts';
import { controllerOf } from './ownership.ts';

/** The caches of the types that a kind owns. */
export class ChildCaches {
  readonly types: readonly OwnedType[];
  /** In the order of `types`. */
  readonly all: readonly Cache[];
  readonly #kind: string;
  readonly #caches = new Map<string, Cache>();

  /** Throws when there is none for a type that the kind owns. */
  constructor(kind: Kind, caches: ReadonlyMap<OwnedType, Cache>) {
    this.types = kind.owns;
    this.#kind = kind.kind;
    for (const [type, cache] of caches) this.#caches.set(resourceNameOf(type), cache);
    this.all = kind.owns.map((type) => this.of(type));
  }

  of(type: OwnedType): Cache {
    const cache = this.#caches.get(resourceNameOf(type));
    if (cache === undefined) throw new Error(`${this.#kind} has no cache of ${resourceNameOf(type)}: is it in owns?`);
    return cache;
  }

  ownedBy(resource: Resource, type: OwnedType): readonly KubeObject[] {
    return this.of(type).ownedBy(resource.metadata.uid);
  }
}

/** Only objects whose controller is that very resource. */
export const observedOf = (resource: Resource, caches: ChildCaches): Observed => ({
  // The caller names the shape that it reads; what is in the cache has come from the API server in that type.
  get: <Live extends KubeObject>(type: OwnedType<Live>, name: string): Live | undefined => {
    const live = caches.of(type).get(resource.metadata.namespace, name);
    return live !== undefined && controllerOf(live)?.uid === resource.metadata.uid ? (live as Live) : undefined;
  },
  all: <Live extends KubeObject>(type: OwnedType<Live>): readonly Live[] =>
    [...caches.ownedBy(resource, type)].sort((one, other) =>
      one.metadata.name < other.metadata.name ? -1 : 1,
    ) as unknown as readonly Live[],
});
