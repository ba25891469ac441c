import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { connectTo } from '../../test/fake-apiserver/connect-to.ts';
import { FakeApiServer } from '../../test/fake-apiserver/fake-apiserver.ts';
import * as faults from '../../test/fake-apiserver/faults.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { soon } from '../../test/eventually.ts';
import type { WatchEvent, WatchQuery } from './client.ts';
import { createClient, type ClosableClient } from './connect.ts';
import { LineSplitter } from './lines.ts';

const ConfigMap: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
};

const configMap = (name: string, text = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', labels: { app: name } },
  data: { text },
});

let server: FakeApiServer;
let client: ClosableClient;
let stop: AbortController;

beforeEach(async () => {
  server = await FakeApiServer.start({ types: [ConfigMap] });
  client = createClient({ connection: connectTo(server.url), fieldManager: 'reprise', clock: new FakeClock() });
  stop = new AbortController();
});

afterEach(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

interface Heard {
  readonly events: WatchEvent[];
  /** 'ended', or what was thrown. */
  readonly outcome: Promise<unknown>;
}

const listen = (query: WatchQuery = { resourceVersion: '1000' }): Heard => {
  const events: WatchEvent[] = [];
  const run = async (): Promise<string> => {
    for await (const event of client.watch(ConfigMap, query, stop.signal)) events.push(event);
    return 'ended';
  };
  return { events, outcome: run().catch((error: unknown) => error) };
};

const told = ({ events }: Heard): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`);

describe('a watch', () => {
  test('always asks for bookmarks', async () => {
    listen({ resourceVersion: '1000', timeoutSeconds: 300 });
    await soon(() => server.watches.length === 1);
    expect(server.requests[0]?.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '1000',
      timeoutSeconds: '300',
    });
    stop.abort();
  });

  test('asks for the state first in the way of KEP-3157', async () => {
    server.create(ConfigMap, configMap('a'));
    const heard = listen({ sendInitialEvents: true });
    await soon(() => heard.events.length === 2);
    expect(server.requests[0]?.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(heard.events[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    stop.abort();
  });

  test('says when the server has accepted it, and not before', async () => {
    let opened = 0;
    server.fault({ verb: 'watch' }, faults.refuse(500, 'InternalError'));
    const watch = () => client.watch(ConfigMap, { resourceVersion: '1000' }, stop.signal, () => (opened += 1));
    await expect(watch().next()).rejects.toMatchObject({ status: 500 });
    expect(opened).toBe(0);
    const pending = watch().next();
    await soon(() => opened === 1);
    stop.abort(new Error('over'));
    await expect(pending).rejects.toThrow('over');
  });

  test('ends when the server ends it, after the last event', async () => {
    server.fault({ verb: 'watch' }, faults.end(2));
    const heard = listen();
    await soon(() => server.watches.length === 1);
    for (const name of ['a', 'b', 'c']) server.create(ConfigMap, configMap(name));
    expect(await heard.outcome).toBe('ended');
    expect(told(heard)).toEqual(['ADDED a 1001', 'ADDED b 1002']);
  });

  test('throws when the connection is reset', async () => {
    server.fault({ verb: 'watch' }, faults.reset(1));
    const heard = listen();
    await soon(() => server.watches.length === 1);
    server.create(ConfigMap, configMap('a'));
    expect(await heard.outcome).toMatchObject({ name: 'ConnectionError', code: 'ECONNRESET' });
  });

  test('ends with its signal, and leaves no connection', async () => {
    const heard = listen();
    await soon(() => server.watches.length === 1);
    stop.abort(new Error('over'));
    expect(await heard.outcome).toMatchObject({ message: 'over' });
    await soon(() => server.openConnections === 0);
  });

  test('leaves no connection when its reader stops listening', async () => {
    server.create(ConfigMap, configMap('a'));
    for await (const event of client.watch(ConfigMap, { sendInitialEvents: true }, stop.signal)) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await soon(() => server.openConnections === 0);
  });

  test('leaves no connection when its signal comes just as the server has accepted it', async () => {
    const watch = client.watch(ConfigMap, { resourceVersion: '1000' }, stop.signal, () =>
      stop.abort(new Error('over')),
    );
    await expect(watch.next()).rejects.toThrow('over');
    await soon(() => server.openConnections === 0);
  });

  test('does not take a connection from the requests', async () => {
    const watches = Array.from({ length: 20 }, () => listen());
    await soon(() => server.watches.length === 20);
    await client.list(ConfigMap, {}, stop.signal);
    stop.abort();
    await Promise.all(watches.map(({ outcome }) => outcome));
  });

  test('that is refused says why, as any request does', async () => {
    server.fault({ verb: 'watch' }, faults.refuse(429, 'TooManyRequests', 1));
    expect(await listen().outcome).toMatchObject({ status: 429, retryAfterMs: 1000, reason: 'TooManyRequests' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the bytes of a watch', () => {
  const text = 'Grüße, 世界 👋';

  test.each([1, 2, 3, 7, 1000])(
    'in pieces of %d bytes give the same events: no character and no object is split',
    async (bytes) => {
      server.create(ConfigMap, configMap('a', text));
      server.create(ConfigMap, configMap('b', text));
      server.fault({ verb: 'watch' }, faults.inPieces(bytes));
      const heard = listen({ sendInitialEvents: true });
      await soon(() => heard.events.length === 3);
      expect(heard.events.map(({ object }) => object.data)).toEqual([{ text }, { text }, undefined]);
      stop.abort();
    },
  );

  test('may be an object of 2 MB', async () => {
    const large = 'é'.repeat(1_000_000);
    const heard = listen();
    await soon(() => server.watches.length === 1);
    server.create(ConfigMap, configMap('a', large));
    await soon(() => heard.events.length === 1);
    expect(heard.events[0]?.object.data).toEqual({ text: large });
    stop.abort();
  });

  test('cut within a line are an error, and the half event is not told', async () => {
    server.fault(
      { verb: 'watch' },
      faults.cutWithin(1, (line) => Math.floor(line.length / 2)),
    );
    const heard = listen();
    await soon(() => server.watches.length === 1);
    server.create(ConfigMap, configMap('a'));
    server.create(ConfigMap, configMap('b'));
    expect(await heard.outcome).toMatchObject({ name: 'ConnectionError' });
    expect(told(heard)).toEqual(['ADDED a 1001']);
  });

  test('cut within a character are an error', async () => {
    server.fault(
      { verb: 'watch' },
      faults.cutWithin(0, (line) => line.indexOf(Buffer.from('世')) + 1),
    );
    const heard = listen();
    await soon(() => server.watches.length === 1);
    server.create(ConfigMap, configMap('a', text));
    expect(await heard.outcome).toMatchObject({ name: 'ConnectionError' });
    expect(heard.events).toEqual([]);
  });

  test.each([
    ['a line that is not JSON', faults.garbage(0), 'ProtocolError'],
    ['an event without a type', faults.notAnEvent(0, { object: {} }), 'ProtocolError'],
    ['an event without an object', faults.notAnEvent(0, { type: 'ADDED' }), 'ProtocolError'],
    ['an object without metadata', faults.notAnEvent(0, { type: 'ADDED', object: {} }), 'ProtocolError'],
    ['a null object', faults.notAnEvent(0, { type: 'ADDED', object: null }), 'ProtocolError'],
    ['an unknown type', faults.notAnEvent(0, { type: 'MOVED', object: {} }), 'ProtocolError'],
    ['a bare number', faults.notAnEvent(0, 7), 'ProtocolError'],
    [
      'a bare Status in place of a stream',
      faults.notAnEvent(0, { kind: 'Status', code: 429, reason: 'TooManyRequests' }),
      'ApiError',
    ],
  ])('%s is an error, never skipped', async (_, fault, name) => {
    server.fault({ verb: 'watch' }, fault);
    expect(await listen().outcome).toMatchObject({ name });
  });

  test('without a newline for ever are not kept for ever', () => {
    const lines = new LineSplitter(1000);
    expect(() => {
      for (let i = 0; i < 2000; i += 1) lines.push(Buffer.from('x'));
    }).toThrow(/larger than 1000 bytes/);
  });

  test('that end within a line without a reset are an error too', async () => {
    const fault: faults.StreamFault = { kind: 'stream', act: () => ({ send: ['{"type":"ADDED"'], then: 'end' }) };
    server.fault({ verb: 'watch' }, fault);
    expect(await listen().outcome).toMatchObject({ name: 'ProtocolError' });
  });
});
