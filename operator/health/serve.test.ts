import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { CannotListen, serve, type Answerer } from './serve.ts';

const start = async (answer: Answerer) => {
  const errors: unknown[] = [];
  const serving = await serve({
    bind: { host: '127.0.0.1', port: 0 },
    flag: 'metrics-bind-address',
    answer,
    onError: (error) => errors.push(error),
  });
  return {
    errors,
    serving,
    url: `http://${serving.address}`,
    [Symbol.asyncDispose]: () => serving[Symbol.asyncDispose](),
  };
};

describe('the endpoint', () => {
  test('answers GET with the text and HEAD without it', async () => {
    await using endpoint = await start((path, query) => ({ status: 200, body: `${path} ${query.get('q') ?? ''}` }));
    const get = await fetch(`${endpoint.url}/a?q=b`);
    expect([get.status, get.headers.get('content-type'), await get.text()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      '/a b',
    ]);
    const head = await fetch(`${endpoint.url}/a?q=b`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '4', '']);
  });

  test('refuses everything else', async () => {
    await using endpoint = await start(() => ({ status: 200, body: 'ok' }));
    const post = await fetch(endpoint.url, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('hides what went wrong from the asker and tells its owner', async () => {
    await using endpoint = await start(() => {
      throw new Error('the secret is 42');
    });
    const answer = await fetch(endpoint.url);
    expect([answer.status, await answer.text()]).toEqual([500, 'internal server error\n']);
    expect(endpoint.errors.map(String)).toEqual(['Error: the secret is 42']);
  });

  test('survives requests that are no HTTP', async () => {
    await using endpoint = await start(() => ({ status: 200, body: 'ok' }));
    for (const garbage of [
      '\u0000\u0001\u0002\r\n\r\n',
      'GET http://[ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    ]) {
      const socket = connect(Number(new URL(endpoint.url).port), '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(garbage);
      await once(socket, 'close');
      expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 400 /);
    }
    expect((await fetch(endpoint.url)).status).toBe(200);
  });

  test('says which port is taken and which flag chooses another', async () => {
    await using endpoint = await start(() => ({ status: 200, body: 'ok' }));
    const port = Number(new URL(endpoint.url).port);
    const second = serve({
      bind: { host: '127.0.0.1', port },
      flag: 'metrics-bind-address',
      answer: () => ({ status: 200, body: '' }),
      onError: () => undefined,
    });
    const error = await second.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(CannotListen);
    expect((error as Error).message).toBe(
      `cannot listen on 127.0.0.1:${port}: the port is taken; choose another with --metrics-bind-address`,
    );
  });

  test('is gone after it was closed, with its connections', async () => {
    const endpoint = await start(() => ({ status: 200, body: 'ok' }));
    await (await fetch(endpoint.url)).text();
    await endpoint.serving[Symbol.asyncDispose]();
    await expect(fetch(endpoint.url)).rejects.toThrow('fetch failed');
  });
});
