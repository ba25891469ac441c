import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ResourceType } from '../charts/resource.ts';
import { FakeApiServer } from '../test/fake-apiserver/fake-apiserver.ts';
import { lossOf } from './leftovers.ts';

const type: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
};
const definition = { name: 'things.example.com', type };

let server: FakeApiServer;
let folder: string;
let kubeconfig: string;

beforeEach(async () => {
  server = await FakeApiServer.start({ types: [type] });
  folder = mkdtempSync(join(tmpdir(), 'reprise-leftovers-'));
  kubeconfig = join(folder, 'config');
  writeFileSync(kubeconfig, configOf(server.url.href));
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const configOf = (address: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server: address } }],
    users: [{ name: 'test', user: {} }],
  });

const make = (namespace: string, name: string): void => {
  server.create(type, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { namespace, name } });
};

describe('what goes with a definition', () => {
  test('is nothing where there are no resources of it, or only known ones', async () => {
    await expect(lossOf(definition, { kubeconfig }, [])).resolves.toBeUndefined();
    make('shop', 'hello');
    await expect(lossOf(definition, { kubeconfig }, ['shop/hello'])).resolves.toBeUndefined();
  });

  test('is named', async () => {
    make('shop', 'hello');
    make('shop', 'mine');
    await expect(lossOf(definition, { kubeconfig }, ['shop/hello'])).resolves.toBe(
      'deleting the definition things.example.com also deletes 1 Thing of others: shop/mine',
    );
  });

  test('is counted over all pages and named in part', async () => {
    for (let index = 0; index < 501; index += 1) make('shop', `thing-${String(index).padStart(3, '0')}`);
    const loss = await lossOf(definition, { kubeconfig }, []);
    expect(loss).toMatch(/ 501 Things of others: shop\/thing-000, .* and 496 more$/);
    expect(server.seen('list', 'things')).toHaveLength(2);
  });

  test('is nothing where the definition is gone already', async () => {
    server.uninstall(type);
    await expect(lossOf(definition, { kubeconfig }, [])).resolves.toBeUndefined();
  });

  test('that cannot be looked for is a warning too', async () => {
    await expect(lossOf(definition, { kubeconfig: join(folder, 'nowhere') }, [])).resolves.toMatch(
      /^cannot look for resources that go with the definition things\.example\.com: no kubeconfig at /,
    );
  });

  test('is found with the contents of a kubeconfig as well', async () => {
    make('shop', 'mine');
    await expect(lossOf(definition, { kubeconfig: configOf(server.url.href) }, [])).resolves.toMatch(/shop\/mine$/);
  });
});
