import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';

import { ContextUnusable, existingCluster } from './context.ts';
import { scratch } from './fixtures/scratch.ts';
import { freePorts } from './ports.ts';

function kubeconfig(path: string, server: string): string {
  const file = join(path, 'config');
  const context = (name: string): object => ({ name, context: { cluster: 'one', user: 'me' } });
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'one', cluster: { server } }],
    users: [{ name: 'me', user: {} }],
    contexts: [context('dev'), context('prod')],
    'current-context': 'dev',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** An API server that answers each path with a status and a body. */
async function apiServer(answer: (path: string) => [number, unknown]): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? '');
    response.writeHead(status).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function problemWith(context: string, file: string): Promise<string> {
  const problem: unknown = await existingCluster(context, { kubeconfig: file, timeoutMs: 300 }).catch(
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(ContextUnusable);
  const { message } = problem as Error;
  expect(message).not.toContain('\n');
  return message;
}

describe('a context that cannot be used is one clear line', () => {
  test('the kubeconfig is not there', async () => {
    expect(await problemWith('dev', '/nowhere/config')).toMatch(/no kubeconfig at \/nowhere\/config/);
  });

  test('the kubeconfig does not parse', async () => {
    using folder = scratch();
    const file = join(folder.path, 'config');
    writeFileSync(file, 'apiVersion: [v1\nkind: Config');
    expect(await problemWith('dev', file)).toMatch(new RegExp(`^kubeconfig ${file} cannot be read: `));
  });

  test('the context is not there: those that are, are named', async () => {
    using folder = scratch();
    const file = kubeconfig(folder.path, 'https://127.0.0.1:1');
    expect(await problemWith('stage', file)).toMatch(/has no context "stage" \(it has: dev, prod\)/);
  });

  test('the server cannot be reached', async () => {
    using folder = scratch();
    const [port] = await freePorts(1);
    const message = await problemWith('dev', kubeconfig(folder.path, `https://127.0.0.1:${port}`));
    expect(message).toBe(`The server of context "dev" cannot be reached: https://127.0.0.1:${port}: ECONNREFUSED`);
  });

  test('the server does not answer', async () => {
    using folder = scratch();
    const mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const message = await problemWith('dev', kubeconfig(folder.path, `http://127.0.0.1:${port}`));
    expect(message).toMatch(/no answer within 0\.3 s$/);
    mute.close();
    mute.closeAllConnections();
  });

  test('the server does not know us', async () => {
    using folder = scratch();
    await using server = await apiServer(() => [401, {}]);
    const message = await problemWith('dev', kubeconfig(folder.path, server.url));
    expect(message).toBe('The server of context "dev" does not accept its credentials (401)');
  });

  test('rights are missing', async () => {
    using folder = scratch();
    await using server = await apiServer((path) =>
      path === '/version' ? [200, { gitVersion: 'v1.36.2' }] : [201, { status: { allowed: false } }],
    );
    const message = await problemWith('dev', kubeconfig(folder.path, server.url));
    expect(message).toMatch(
      /^Context "dev" may not create customresourcedefinitions\.apiextensions\.k8s\.io, namespaces, clusterroles\.rbac/,
    );
  });
});

test('a usable context gives the server, its version and the kubeconfig', async () => {
  using folder = scratch();
  await using server = await apiServer((path) =>
    path === '/version' ? [200, { gitVersion: 'v1.36.2' }] : [201, { status: { allowed: true } }],
  );
  const file = kubeconfig(folder.path, server.url);
  expect(await existingCluster('prod', { kubeconfig: file })).toEqual({
    context: 'prod',
    kubeconfig: file,
    server: `${server.url}/`,
    version: 'v1.36.2',
  });
});
