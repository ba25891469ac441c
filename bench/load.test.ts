import { describe, expect, test } from '@jest/globals';
import type { KubeObject, ResourceType } from '../charts/resource.ts';
import type { Client, WatchEvent } from '../operator/kube/client.ts';
import { ApiError } from '../operator/kube/errors.ts';
import { createAndObserve } from './load.ts';

const type: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
};
const things = Array.from({ length: 5 }, (_, index): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: `thing-${index}`, namespace: 'here' },
}));
const never = new AbortController().signal;

/** A server that serves what is created at once, and tells the one watcher of it. */
class Server {
  readonly events: WatchEvent[] = [];
  refusals = 0;
  isEnding = false;
  underWay = 0;
  mostUnderWay = 0;
  #wake = (): void => undefined;

  readonly client = {
    list: () => Promise.resolve({ items: [], resourceVersion: '7' }),
    create: async (_type: ResourceType, object: KubeObject): Promise<KubeObject> => {
      this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
      await Promise.resolve();
      this.underWay -= 1;
      const stored = { ...object, metadata: { ...object.metadata, generation: 1 } };
      this.tell('ADDED', stored);
      this.tell('MODIFIED', { ...stored, status: { observedGeneration: 1 } });
      this.tell('MODIFIED', { ...stored, status: { observedGeneration: 1, again: true } });
      return stored;
    },
    watch: (...[, query, signal, opened]: Parameters<Client['watch']>) =>
      this.#watch(query.resourceVersion, signal, opened),
  } as unknown as Client;

  tell(type: WatchEvent['type'], object: KubeObject): void {
    this.events.push({ type, object });
    this.#wake();
  }

  async *#watch(from: string | undefined, signal: AbortSignal, opened?: () => void): AsyncGenerator<WatchEvent> {
    if (this.refusals-- > 0)
      throw new ApiError({ status: 429, reason: 'TooManyRequests', message: 'the cache is being filled' });
    if (from !== '7') throw new Error(`watched from ${from}`);
    opened?.();
    for (let next = 0; !this.isEnding; next++) {
      while (this.events[next] === undefined) await this.#news(signal);
      yield this.events[next]!;
    }
  }

  async #news(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      this.#wake = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }
}

const load = (server: Server, signal = never) =>
  createAndObserve({ client: server.client, type, namespace: 'here', objects: things, creators: 2, signal });

describe('the load', () => {
  test('creates everything, some at a time, and times each until it is served', async () => {
    const server = new Server();
    const { latenciesMs, seconds, createSeconds } = await load(server);
    expect(server.mostUnderWay).toBe(2);
    expect(latenciesMs).toHaveLength(5);
    expect(latenciesMs.every((latency) => Math.abs(latency) < 1000)).toBe(true);
    expect([seconds > 0, createSeconds > 0]).toEqual([true, true]);
  });

  test('does not begin before its watch is open, and asks again where a fresh definition is not ready', async () => {
    const server = new Server();
    server.refusals = 1;
    expect((await load(server)).latenciesMs).toHaveLength(5);
  });

  test('fails when its watch ends, for it would count too few', async () => {
    const server = new Server();
    server.isEnding = true;
    await expect(load(server)).rejects.toThrow('the watch of things ended before its time');
  });

  test('fails with a create that is refused', async () => {
    const server = new Server();
    server.client.create = () => Promise.reject(new Error('refused'));
    await expect(load(server)).rejects.toThrow('refused');
  });

  test('ends when it is told to', async () => {
    const server = new Server();
    server.client.create = (_type, object) => Promise.resolve(object);
    const stop = new AbortController();
    const running = load(server, stop.signal);
    stop.abort(new Error('interrupted'));
    await expect(running).rejects.toThrow('interrupted');
  });
});
