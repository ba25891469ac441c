import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findProvider } from './pulumi-provider.ts';
import type { FindProviderOptions } from './pulumi-provider.ts';

let folder: string;
/** Nobody answers there. */
let host: string;

beforeEach(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  folder = mkdtempSync(join(tmpdir(), 'reprise-provider-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An executable that runs a line of shell. */
function executable(path: string, line = 'exit 0'): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
  return path;
}

const plugin = (home: string, version: string): string =>
  executable(join(folder, home, 'plugins', `resource-kubernetes-v${version}`, 'pulumi-resource-kubernetes'));

const find = (options: Partial<FindProviderOptions> = {}) =>
  findProvider({
    cli: '/nowhere/pulumi',
    host,
    environment: {
      PATH: join(folder, 'bin'),
      PULUMI_HOME: join(folder, 'home'),
      XDG_CACHE_HOME: join(folder, 'cache'),
    },
    ...options,
  });

describe('the provider', () => {
  test('on PATH comes first', async () => {
    executable(join(folder, 'bin', 'pulumi-resource-kubernetes'));
    plugin('home', '4.34.2');
    await expect(find()).resolves.toEqual({ kind: 'real', folder: join(folder, 'bin') });
  });

  test("in Pulumi's plugin folder is the newest one of the SDK's major version that is whole", async () => {
    for (const version of ['3.99.0', '4.9.0', '4.32.0', '4.33.0']) plugin('home', version);
    writeFileSync(join(folder, 'home', 'plugins', 'resource-kubernetes-v4.33.0.partial'), '');
    const newest = join(folder, 'home', 'plugins', 'resource-kubernetes-v4.32.0');
    await expect(find()).resolves.toEqual({ kind: 'real', folder: newest });
  });

  test('that was downloaded before is found again', async () => {
    plugin('cache/reprise/pulumi', '4.34.2');
    const choice = await find();
    expect(choice.kind).toBe('real');
  });

  test('is downloaded with the CLI where its server answers, and kept', async () => {
    const server = createHttpServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const kept = join(folder, 'cache', 'reprise', 'pulumi', 'plugins', 'resource-kubernetes-v4.0.0');
    const make = `mkdir -p ${kept} && echo "$@" > ${kept}/arguments && touch ${kept}/pulumi-resource-kubernetes`;
    const cli = executable(join(folder, 'pulumi'), make);
    const answering = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(find({ cli, host: answering })).resolves.toEqual({ kind: 'real', folder: kept });
    expect(readFileSync(join(kept, 'arguments'), 'utf8')).toMatch(/^plugin install resource kubernetes \d+\.\d+\.\d+ /);
    server.close();
  });

  test('that the CLI cannot download has a stand-in, and the reason is told', async () => {
    const server = createHttpServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cli = executable(join(folder, 'pulumi'), 'echo "error: no space left on device" >&2; exit 1');
    const answering = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(find({ cli, host: answering })).resolves.toEqual({
      kind: 'stand-in',
      why: 'error: no space left on device',
    });
    server.close();
  });

  test('has a stand-in where the network does not lead to one', async () => {
    await expect(find()).resolves.toEqual({
      kind: 'stand-in',
      why: `${new URL(host).host} cannot be reached: ECONNREFUSED`,
    });
  });
});
