/** A bare watch, for those who measure: no cache, no state machine. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceType } from '../charts/resource.ts';
import type { Client, WatchEvent } from '../operator/kube/client.ts';
import { isTooManyRequests } from '../operator/kube/errors.ts';

export interface FollowProps {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** From now on nothing is missed. */
  readonly opened: () => void;
}

/** Every change from now on. Throws when the watch ends: what came meanwhile would be missing from the figures. */
export async function* follow({ client, type, namespace, signal, opened }: FollowProps): AsyncGenerator<WatchEvent> {
  const { resourceVersion } = await client.list(type, { namespace, limit: 1 }, signal);
  for (let attempt = 1; ; attempt++) {
    try {
      yield* client.watch(type, { namespace, resourceVersion }, signal, opened);
      break;
    } catch (error) {
      // The first watch on a fresh definition: its cache is still being filled.
      if (!isTooManyRequests(error) || attempt === 100) throw error;
      await delay(100, undefined, { signal });
    }
  }
  throw new Error(`the watch of ${type.plural} ended before its time`);
}
