/** The load: WebServers created as fast as the server takes them, and an independent watch that sees when each has been served. */
import type { KubeObject, ResourceType } from '../charts/resource.ts';
import type { Client } from '../operator/kube/client.ts';
import { follow } from './follow.ts';

export interface LoadProps {
  readonly client: Client;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly objects: readonly KubeObject[];
  /** Creates under way at a time. */
  readonly creators: number;
  readonly signal: AbortSignal;
}

export interface Load {
  /** From the first create sent to the last resource seen served. */
  readonly seconds: number;
  /** From the first create sent to the last create answered. */
  readonly createSeconds: number;
  /** For each resource: from its create answered to its observedGeneration seen. */
  readonly latenciesMs: readonly number[];
}

const stallMs = 60_000;

/** Creates all and waits until all are served. Throws when nothing comes for a minute. */
export async function createAndObserve(props: LoadProps): Promise<Load> {
  const stop = new AbortController();
  const signal = AbortSignal.any([props.signal, stop.signal]);
  const served = new Map<string, number>();
  const { promise: opened, resolve: open } = Promise.withResolvers<undefined>();
  const watching = watchUntilServed({ ...props, signal }, served, () => open(undefined));
  try {
    await Promise.race([opened, watching]);
    const start = performance.now();
    const [created] = await Promise.all([createAll({ ...props, signal }), watching]);
    return loadOf(start, created, served);
  } finally {
    stop.abort(new Error('the load is over'));
  }
}

/** Name to time at which the create was answered. */
async function createAll({ client, type, objects, creators, signal }: LoadProps): Promise<ReadonlyMap<string, number>> {
  const created = new Map<string, number>();
  const waiting = objects.values();
  const create = async (): Promise<void> => {
    for (const object of waiting) {
      await client.create(type, object, signal);
      created.set(object.metadata.name, performance.now());
    }
  };
  await Promise.all(Array.from({ length: creators }, create));
  return created;
}

/** Fills `served`: name to time at which the resource was seen with its own generation observed. */
async function watchUntilServed(props: LoadProps, served: Map<string, number>, opened: () => void): Promise<void> {
  const { objects } = props;
  const stall = new AbortController();
  const giveUp = (): void =>
    stall.abort(new Error(`${served.size} of ${objects.length} were served, and none for ${stallMs / 1000} s`));
  let timer = setTimeout(giveUp, stallMs);
  try {
    for await (const { object } of follow({
      ...props,
      signal: AbortSignal.any([props.signal, stall.signal]),
      opened,
    })) {
      if (!isServed(object) || served.has(object.metadata.name)) continue;
      served.set(object.metadata.name, performance.now());
      clearTimeout(timer);
      if (served.size === objects.length) return;
      timer = setTimeout(giveUp, stallMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

const isServed = ({ metadata, status }: KubeObject): boolean =>
  (status as { observedGeneration?: number } | undefined)?.observedGeneration === metadata.generation;

function loadOf(start: number, created: ReadonlyMap<string, number>, served: ReadonlyMap<string, number>): Load {
  const last = (times: ReadonlyMap<string, number>): number => Math.max(...times.values());
  return {
    seconds: (last(served) - start) / 1000,
    createSeconds: (last(created) - start) / 1000,
    latenciesMs: Array.from(created, ([name, time]) => (served.get(name) ?? Number.NaN) - time),
  };
}
