/**
 * Own events are no news. Two thirds of them come before the answer to the write that caused them (measured), when nobody can
 * know yet whose they are. So changes of an object that is being written are held until the answer is there; those at
 * the version of the answer are ours and told to nobody, all others are told then.
 */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import type { Client, ObjectRef } from '../kube/client.ts';
import type { Change, ChangeListener } from './reader.ts';
import { keyOf } from './store.ts';

/** Ends a write; without the answer when it failed. */
export type EndWrite = (answer?: KubeObject) => void;

interface OpenWrites {
  count: number;
  readonly held: Change[];
  readonly answers: Set<string | undefined>;
}

export class OwnWrites {
  readonly #tell: ChangeListener;
  readonly #open = new Map<string, OpenWrites>();

  constructor(tell: ChangeListener) {
    this.#tell = tell;
  }

  /** A write of that object is on its way. Must be ended. */
  begin(namespace: string, name: string): EndWrite {
    const key = keyOf(namespace, name);
    const writes = this.#open.get(key) ?? { count: 0, held: [], answers: new Set() };
    writes.count += 1;
    this.#open.set(key, writes);
    return (answer) => this.#end(key, writes, answer);
  }

  /** Passes a change on, now or when the writes of its object have ended. */
  heard(change: Change): void {
    const { namespace, name } = change.object.metadata;
    const writes = this.#open.get(keyOf(namespace, name));
    if (writes === undefined) this.#tell(change);
    else writes.held.push(change);
  }

  #end(key: string, writes: OpenWrites, answer: KubeObject | undefined): void {
    if (answer !== undefined) writes.answers.add(answer.metadata.resourceVersion);
    writes.count -= 1;
    if (writes.count > 0) return;
    this.#open.delete(key);
    for (const change of writes.held) if (!isOwn(change, writes)) this.#tell(change);
  }
}

const isOwn = ({ type, object }: Change, { answers }: OpenWrites): boolean =>
  type !== 'deleted' && answers.has(object.metadata.resourceVersion);

/** A cache that is told of writes while they are on their way. */
export interface WriteAware {
  writing(namespace: string, name: string): EndWrite;
}

/** The client, with the caches told of each write. Types without a cache are written as ever. */
export const announcingWrites = (client: Client, cacheOf: (type: ResourceType) => WriteAware | undefined): Client => {
  const announce = async (
    type: ResourceType,
    ref: ObjectRef,
    write: () => Promise<KubeObject>,
  ): Promise<KubeObject> => {
    const end = cacheOf(type)?.writing(ref.namespace ?? '', ref.name);
    let answer: KubeObject | undefined;
    try {
      answer = await write();
      return answer;
    } finally {
      end?.(answer);
    }
  };
  return {
    list: (...args) => client.list(...args),
    watch: (...args) => client.watch(...args),
    get: (...args) => client.get(...args),
    delete: (...args) => client.delete(...args),
    create: (type, object, signal) => announce(type, object.metadata, () => client.create(type, object, signal)),
    apply: (type, object, signal) => announce(type, object.metadata, () => client.apply(type, object, signal)),
    jsonPatch: (type, ref, patch, signal) => announce(type, ref, () => client.jsonPatch(type, ref, patch, signal)),
    patchStatus: (type, ref, patch, signal) => announce(type, ref, () => client.patchStatus(type, ref, patch, signal)),
  };
};
