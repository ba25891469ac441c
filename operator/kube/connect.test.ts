import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getEventListeners } from 'node:events';
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { connectTo } from '../../test/fake-apiserver/connect-to.ts';
import { FakeApiServer } from '../../test/fake-apiserver/fake-apiserver.ts';
import * as faults from '../../test/fake-apiserver/faults.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { soon } from '../../test/eventually.ts';
import { createClient, type ClientProps, type ClosableClient } from './connect.ts';
import {
  ApiError,
  ConnectionError,
  isAlreadyExists,
  isConflict,
  isGone,
  isInvalid,
  isNotFound,
  isNotServed,
  ProtocolError,
} from './errors.ts';

const Widget: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
};
const ConfigMap: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
};
const Node: ResourceType = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' };

const widget = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'shop' },
  ...more,
});

const never = new AbortController().signal;
let server: FakeApiServer;
let clock: FakeClock;
let client: ClosableClient;
let requests: string[];

const newClient = (props: Partial<ClientProps> = {}): ClosableClient =>
  createClient({
    connection: connectTo(server.url),
    fieldManager: 'reprise',
    observer: { request: (method, host, code) => requests.push(`${method} ${host === server.url.host} ${code}`) },
    clock,
    random: () => 0,
    ...props,
  });

beforeEach(async () => {
  server = await FakeApiServer.start({ types: [Widget, ConfigMap, Node] });
  clock = new FakeClock();
  requests = [];
  client = newClient();
});

afterEach(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

/** What a promise was rejected with. */
const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => {
      throw new Error(`it should have been refused, but gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );

const last = () => server.requests.at(-1)!;

describe('what goes over the wire', () => {
  test('a create is a POST with the field manager', async () => {
    const made = await client.create(Widget, widget('a', { spec: { size: 1 } }), never);
    expect(last()).toMatchObject({
      verb: 'create',
      path: '/apis/example.com/v1/namespaces/shop/widgets?fieldManager=reprise',
    });
    expect(JSON.parse(last().body)).toEqual(widget('a', { spec: { size: 1 } }));
    expect(made.metadata.uid).toBe('uid-1');
  });

  test('an apply is server-side, with force', async () => {
    await client.apply(Widget, widget('a', { spec: { size: 1 } }), never);
    expect(last().path).toBe('/apis/example.com/v1/namespaces/shop/widgets/a?fieldManager=reprise&force=true');
    expect(last().headers['content-type']).toBe('application/apply-patch+yaml');
  });

  test('a status goes to its subresource as a merge patch', async () => {
    const { metadata } = server.create(Widget, widget('a', { spec: { size: 1 } }));
    const patch = {
      metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
      status: { ready: true },
    };
    const answer = await client.patchStatus(Widget, { namespace: 'shop', name: 'a' }, patch, never);
    expect(last().path).toBe('/apis/example.com/v1/namespaces/shop/widgets/a/status?fieldManager=reprise');
    expect(last().headers['content-type']).toBe('application/merge-patch+json');
    expect(answer.status).toEqual({ ready: true });
  });

  test('a JSON patch is one', async () => {
    server.create(Widget, widget('a', { spec: { size: 1 } }));
    const answer = await client.jsonPatch(
      Widget,
      { namespace: 'shop', name: 'a' },
      [{ op: 'replace', path: '/spec/size', value: 2 }],
      never,
    );
    expect(last().headers['content-type']).toBe('application/json-patch+json');
    expect(answer.spec).toEqual({ size: 2 });
  });

  test('a delete carries the UID as precondition', async () => {
    const { metadata } = server.create(Widget, widget('a'));
    await client.delete(
      Widget,
      { namespace: 'shop', name: 'a' },
      { uid: metadata.uid!, propagationPolicy: 'Background' },
      never,
    );
    expect(JSON.parse(last().body)).toMatchObject({ preconditions: { uid: 'uid-1' }, propagationPolicy: 'Background' });
    expect(server.state.get(Widget, 'shop', 'a')).toBeUndefined();
  });

  test('types of the cluster have no namespace in their path', async () => {
    server.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    await client.get(Node, { name: 'n1' }, never);
    expect(last().path).toBe('/api/v1/nodes/n1');
  });

  test('names are encoded', async () => {
    await failureOf(client.get(ConfigMap, { namespace: 'shop', name: 'system:a b?c#d' }, never));
    expect(last().path).toBe('/api/v1/namespaces/shop/configmaps/system%3Aa%20b%3Fc%23d');
    expect(last().name).toBe('system:a b?c#d');
  });

  test.each(['', '.', '..', 'a/b', 'a%2fb'])('the name %j is refused before anything is sent', async (name) => {
    await expect((async () => client.get(ConfigMap, { namespace: 'shop', name }, never))()).rejects.toThrow(
      /cannot be the name/,
    );
    expect(server.requests).toEqual([]);
  });

  test('a server behind a path is asked under that path', async () => {
    await using behind = await FakeApiServer.start({ types: [ConfigMap], prefix: '/clusters/c-1' });
    const other = newClient({ connection: connectTo(behind.url) });
    await other.list(ConfigMap, {}, never);
    expect(behind.requests[0]).toMatchObject({ verb: 'list', path: '/clusters/c-1/api/v1/configmaps' });
    other.close();
  });

  test('credentials are sent', async () => {
    server.requireToken('secret');
    const known = newClient({ connection: connectTo(server.url, { authorization: 'Bearer secret', tls: {} }) });
    await known.list(ConfigMap, {}, never);
    known.close();
  });
});

describe('lists', () => {
  test('come in pages of one state of the server', async () => {
    for (const name of ['a', 'b', 'c']) server.create(ConfigMap, widget(name));
    const first = await client.list(ConfigMap, { namespace: 'shop', limit: 2 }, never);
    server.create(ConfigMap, widget('aa'));
    const second = await client.list(ConfigMap, { namespace: 'shop', limit: 2, continue: first.continue! }, never);
    expect([...first.items, ...second.items].map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(second.resourceVersion).toBe(first.resourceVersion);
    expect(second).not.toHaveProperty('continue');
  });

  test('items of built-in types get their apiVersion and kind, which the server leaves out', async () => {
    server.create(ConfigMap, widget('a'));
    const { items } = await client.list(ConfigMap, {}, never);
    expect(items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  });

  test('select by label and field', async () => {
    await client.list(Widget, { labelSelector: 'app in (a, b)', fieldSelector: 'metadata.name=x' }, never);
    expect(last().query).toEqual({ labelSelector: 'app in (a, b)', fieldSelector: 'metadata.name=x' });
  });

  test('an answer that is no list is an error', async () => {
    server.fault({ verb: 'list' }, faults.text(200, '{}'));
    expect(await failureOf(client.list(Widget, {}, never))).toBeInstanceOf(ProtocolError);
  });
});

describe('refusals are typed', () => {
  test('an object that is not there', async () => {
    const error = await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never));
    expect([isNotFound(error), isNotServed(error)]).toEqual([true, false]);
    expect(error).toMatchObject({
      status: 404,
      reason: 'NotFound',
      details: { name: 'a', kind: 'widgets' },
      request: 'GET /apis/example.com/v1/namespaces/shop/widgets/a',
    });
  });

  test('a type that is not served, told in plain text', async () => {
    server.uninstall(Widget);
    const error = await failureOf(client.list(Widget, {}, never));
    expect([isNotFound(error), isNotServed(error)]).toEqual([true, true]);
    expect(error).toMatchObject({ status: 404, reason: 'Unknown', message: '404 page not found' });
  });

  test('a name that is taken, and a precondition that does not hold, are both 409 but not the same', async () => {
    server.create(Widget, widget('a'));
    const exists = await failureOf(client.create(Widget, widget('a'), never));
    const patch = { metadata: { resourceVersion: '1' }, status: {} };
    const conflict = await failureOf(client.patchStatus(Widget, { namespace: 'shop', name: 'a' }, patch, never));
    expect([isAlreadyExists(exists), isConflict(exists)]).toEqual([true, false]);
    expect([isAlreadyExists(conflict), isConflict(conflict)]).toEqual([false, true]);
  });

  test.each([
    [410, 'Expired', isGone],
    [422, 'Invalid', isInvalid],
  ] as const)('%d %s', async (code, reason, predicate) => {
    server.fault({ verb: 'get' }, faults.refuse(code, reason));
    expect(predicate(await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never)))).toBe(true);
  });

  test('a proxy that answers with a page of HTML', async () => {
    server.fault({ verb: 'get' }, faults.text(502, '<html>Bad Gateway</html>\nmore'));
    const error = await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never));
    expect(error).toMatchObject({ status: 502, message: '<html>Bad Gateway</html>' });
  });

  test('a server that answers with nothing', async () => {
    server.fault({ verb: 'get' }, faults.text(500, ''));
    const error = await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never));
    expect(error).toMatchObject({ status: 500, message: 'the API server answered 500' });
  });
});

describe('deleting', () => {
  test('what is gone already is no error', async () => {
    await client.delete(Widget, { namespace: 'shop', name: 'a' }, { uid: 'uid-1' }, never);
    expect(last().verb).toBe('delete');
  });

  test('leaves a later object of the same name alone, and is done', async () => {
    server.create(Widget, widget('a'));
    await client.delete(Widget, { namespace: 'shop', name: 'a' }, { uid: 'an-earlier-one' }, never);
    expect(server.state.get(Widget, 'shop', 'a')).toBeDefined();
  });

  test('with a resourceVersion that is not the present one is a conflict', async () => {
    const { metadata } = server.create(Widget, widget('a'));
    const options = { uid: metadata.uid!, resourceVersion: '1' };
    expect(isConflict(await failureOf(client.delete(Widget, { namespace: 'shop', name: 'a' }, options, never)))).toBe(
      true,
    );
  });
});

describe('Retry-After', () => {
  test.each([429, 503])('a %d that asks for a moment gets it, and the request is sent again', async (code) => {
    server.fault({ verb: 'create', times: 2 }, faults.refuse(code, 'Busy', 2));
    const made = client.create(Widget, widget('a'), never);
    await soon(() => clock.waits.includes(2000) && server.requests.length === 1);
    clock.advance(1999);
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    await soon(() => clock.waits.includes(2000) && server.requests.length === 2);
    clock.advance(2000);
    expect((await made).metadata.name).toBe('a');
    expect(requests).toEqual([`POST true ${code}`, `POST true ${code}`, 'POST true 201']);
  });

  test('is obeyed twice, then the refusal is the caller’s, with the time', async () => {
    server.fault({ verb: 'get', times: 9 }, faults.refuse(429, 'TooManyRequests', 1));
    const failure = failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never));
    for (const count of [1, 2]) {
      await soon(() => server.requests.length === count && clock.waits.includes(1000));
      clock.advance(1000);
    }
    expect(await failure).toMatchObject({ status: 429, retryAfterMs: 1000 });
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    ['a long one is left to the caller', faults.refuse(429, 'TooManyRequests', 60), 60_000],
    ['without one nothing is sent again', faults.refuse(429, 'TooManyRequests'), undefined],
    ['a 500 is not sent again: it may have been done', faults.refuse(500, 'InternalError', 1), 1000],
  ])('%s', async (_, fault, retryAfterMs) => {
    server.fault({ verb: 'create' }, fault);
    expect(await failureOf(client.create(Widget, widget('a'), never))).toMatchObject({ retryAfterMs });
    expect(server.requests).toHaveLength(1);
  });

  test('waiting ends with the signal', async () => {
    server.fault({ verb: 'get' }, faults.refuse(429, 'TooManyRequests', 5));
    const stop = new AbortController();
    const failure = failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, stop.signal));
    await soon(() => clock.waits.includes(5000));
    stop.abort(new Error('enough'));
    expect(await failure).toMatchObject({ message: 'enough' });
    expect(clock.waits).toEqual([]);
  });
});

describe('broken connections', () => {
  test('a server that is not there', async () => {
    const { port } = server;
    await server.stop();
    const error = await failureOf(client.list(Widget, {}, never));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    expect((error as Error).message).toBe(
      `no answer from http://127.0.0.1:${port} (the fake server): connection refused`,
    );
    expect(requests).toEqual(['GET true <error>']);
  });

  test('headers that do not come within 30 s', async () => {
    server.fault({ verb: 'create' }, faults.hang());
    const failure = failureOf(client.create(Widget, widget('a'), never));
    await soon(() => server.requests.length === 1);
    clock.advance(30_000);
    expect(await failure).toMatchObject({ name: 'ConnectionError', code: 'TIMEOUT' });
    await soon(() => server.openConnections === 0);
  });

  test('a body that stops for 30 s', async () => {
    server.create(Widget, widget('a'));
    server.fault({ verb: 'get' }, faults.drip(10));
    const failure = failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never));
    await soon(() => requests.length === 1 && clock.waits.includes(30_000));
    clock.advance(30_000);
    expect(await failure).toMatchObject({ name: 'ConnectionError', code: 'TIMEOUT' });
  });

  test('a body that is cut short', async () => {
    server.create(Widget, widget('a'));
    server.fault({ verb: 'get' }, faults.truncate());
    expect(await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never))).toBeInstanceOf(
      ConnectionError,
    );
  });

  test('a body that is not JSON, or no object', async () => {
    for (const body of ['{"metadata":', '[]', 'null', '"x"']) {
      server.fault({ verb: 'get' }, faults.text(200, body));
      expect(await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never))).toBeInstanceOf(
        ProtocolError,
      );
    }
  });

  test('a body that never ends is not read to the end', async () => {
    const small = newClient({ limits: { bodyBytes: 1000 } });
    server.create(Widget, widget('a', { spec: { text: 'x'.repeat(5000) } }));
    expect(await failureOf(small.get(Widget, { namespace: 'shop', name: 'a' }, never))).toBeInstanceOf(ProtocolError);
    small.close();
  });

  test('a write whose answer is lost is an error: it was done, but we cannot know', async () => {
    server.fault({ verb: 'create' }, faults.lostAnswer());
    expect(await failureOf(client.create(Widget, widget('a'), never))).toMatchObject({
      name: 'ConnectionError',
      code: 'ECONNRESET',
    });
    expect(server.seen('create')).toHaveLength(1);
    expect(server.state.get(Widget, 'shop', 'a')).toBeDefined();
  });

  test('a read on a kept connection that turns out to be closed is sent again; a write is not', async () => {
    server.create(Widget, widget('a'));
    await client.get(Widget, { namespace: 'shop', name: 'a' }, never);
    server.fault({ verb: 'get' }, faults.lostRequest());
    expect((await client.get(Widget, { namespace: 'shop', name: 'a' }, never)).metadata.name).toBe('a');
    server.fault({ verb: 'create' }, faults.lostRequest());
    expect(await failureOf(client.create(Widget, widget('b'), never))).toBeInstanceOf(ConnectionError);
    expect(server.seen('create')).toHaveLength(1);
  });

  test('a read on a new connection that is reset is not sent again', async () => {
    server.fault({ verb: 'get' }, faults.lostRequest());
    expect(await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never))).toBeInstanceOf(
      ConnectionError,
    );
    expect(server.requests).toHaveLength(1);
  });
});

describe('stopping', () => {
  test('before the request', async () => {
    expect(await failureOf(client.list(Widget, {}, AbortSignal.abort(new Error('over'))))).toMatchObject({
      message: 'over',
    });
    expect(server.requests).toEqual([]);
  });

  test('while waiting for headers, and within a body; nothing of it stays open', async () => {
    server.create(Widget, widget('a'));
    for (const fault of [faults.hang(), faults.drip(10)]) {
      server.fault({ verb: 'get' }, fault);
      const stop = new AbortController();
      const seen = server.requests.length;
      const failure = failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, stop.signal));
      await soon(() => server.requests.length > seen && clock.waits.length === 1);
      stop.abort(new Error('over'));
      expect(await failure).toMatchObject({ message: 'over' });
      await soon(() => server.openConnections === 0);
      expect(clock.waits).toEqual([]);
    }
  });
});

test('requests leave nothing on the signal that they were given, however they end', async () => {
  const { signal } = new AbortController();
  server.create(Widget, widget('a'));
  const ref = { namespace: 'shop', name: 'a' };
  await client.get(Widget, ref, signal);
  for (const fault of [
    faults.refuse(500, 'InternalError'),
    faults.truncate(),
    faults.lostRequest(),
    faults.text(200, 'x'),
  ]) {
    server.fault({ verb: 'list' }, fault);
    await failureOf(client.list(Widget, {}, signal));
  }
  server.fault({ verb: 'watch' }, faults.end(1));
  for await (const event of client.watch(Widget, { sendInitialEvents: true }, signal)) expect(event.type).toBe('ADDED');
  server.fault({ verb: 'get' }, faults.refuse(429, 'TooManyRequests', 1));
  const patient = client.get(Widget, ref, signal);
  await soon(() => clock.waits.includes(1000));
  clock.advance(1000);
  await patient;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(clock.waits).toEqual([]);
});

describe('connections', () => {
  test('200 requests use a handful of connections', async () => {
    await Promise.all(Array.from({ length: 200 }, () => client.list(Widget, {}, never)));
    expect(server.requests).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(8);
  });

  test('one after the other they use one', async () => {
    for (let i = 0; i < 20; i += 1) await client.list(Widget, {}, never);
    expect(server.connections).toBe(1);
  });

  test('refusals give their connection back', async () => {
    for (let i = 0; i < 20; i += 1) await failureOf(client.get(Widget, { namespace: 'shop', name: 'a' }, never));
    expect(server.connections).toBe(1);
  });

  test('closing the client closes them', async () => {
    await client.list(Widget, {}, never);
    client.close();
    await soon(() => server.openConnections === 0);
  });
});

test('a refusal says so when the server’s Status does', () => {
  const error = new ApiError({ status: 422, reason: 'Invalid', message: 'spec.size: too big' });
  expect(String(error)).toBe('ApiError: spec.size: too big');
});
