/**
 * How many new Events one object may cause: a token bucket for each, with the figures of client-go's spam filter. Without
 * it, one resource that fails in ever new words would fill etcd.
 */
import { BoundedMap } from './bounded-map.ts';

const burst = 25;
const refillMs = 5 * 60_000;
const maxObjects = 4096;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export class EventBudget {
  readonly #buckets = new BoundedMap<string, Bucket>(maxObjects);

  /** Takes a token of that object; false when it has none left. */
  take(uid: string, now: number): boolean {
    const { tokens, at } = this.#buckets.get(uid) ?? { tokens: burst, at: now };
    const filled = Math.min(burst, tokens + (now - at) / refillMs);
    if (filled < 1) return false;
    this.#buckets.set(uid, { tokens: filled - 1, at: now });
    return true;
  }
}
