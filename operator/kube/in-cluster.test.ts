import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResourceType } from '../../charts/resource.ts';
import { CertificateAuthority } from '../../test/fake-apiserver/certificate.ts';
import { FakeApiServer } from '../../test/fake-apiserver/fake-apiserver.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { soon } from '../../test/eventually.ts';
import { createClient, inClusterConnection, type ClosableClient } from './connect.ts';

const Node: ResourceType = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' };
const never = new AbortController().signal;

let root: string;
let authority: CertificateAuthority;
let server: FakeApiServer;
let clock: FakeClock;
let client: ClosableClient;

const mount = (file: 'token' | 'ca.crt', content: string): Promise<void> => writeFile(join(root, file), content);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'reprise-account-'));
  authority = new CertificateAuthority();
  const tls = authority.issue({ commonName: 'apiserver', addresses: ['127.0.0.1'] });
  server = await FakeApiServer.start({ types: [Node], tls });
  server.requireToken('first');
  await mount('token', 'first\n');
  await mount('ca.crt', authority.ca);
  clock = new FakeClock();
  const connection = inClusterConnection({ host: '127.0.0.1', port: server.port, root, clock });
  client = createClient({ connection, fieldManager: 'reprise', clock });
});

afterEach(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

const list = () => client.list(Node, {}, never);

describe('a pod', () => {
  test('talks to the API server with its mounted token and CA', async () => {
    await list();
    expect(server.requests[0]?.headers.authorization).toBe('Bearer first');
  });

  test('takes a rotated token within a minute, before the old one expires', async () => {
    await list();
    await mount('token', 'second');
    clock.advance(59_000);
    await list();
    server.requireToken('second');
    clock.advance(1_000);
    await list();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ]);
    expect(server.connections).toBe(1);
  });

  test('reads the token again at once when the server refuses it, and sends the request again', async () => {
    await list();
    clock.advance(10_000);
    await mount('token', 'second');
    server.requireToken('second');
    await list();
    expect(server.requests).toHaveLength(3);
    expect(server.connections).toBe(1);
  });

  test('gives the 401 to the caller when the mounted token is still the refused one', async () => {
    await list();
    clock.advance(10_000);
    server.requireToken('second');
    await expect(list()).rejects.toMatchObject({ status: 401 });
    expect(server.requests).toHaveLength(2);
  });

  test('goes on with what it has when the files are gone for a moment', async () => {
    await list();
    await rm(join(root, 'token'));
    clock.advance(60_000);
    await list();
    expect(server.requests).toHaveLength(2);
  });

  test('trusts a new CA after a minute, and closes what it had open under the old one', async () => {
    await list();
    const next = new CertificateAuthority('next');
    await server.stop();
    await using renewed = await FakeApiServer.start({
      types: [Node],
      tls: next.issue({ commonName: 'apiserver', addresses: ['127.0.0.1'] }),
      port: server.port,
    });
    await expect(list()).rejects.toMatchObject({ name: 'ConnectionError' });
    await mount('ca.crt', next.ca);
    clock.advance(60_000);
    await list();
    expect(renewed.requests).toHaveLength(1);
  });

  test('closes connections of an old CA when their requests are done', async () => {
    await list();
    expect(server.openConnections).toBe(1);
    await mount('ca.crt', `${authority.ca}\n${new CertificateAuthority('next').ca}`);
    clock.advance(60_000);
    await list();
    await soon(() => server.openConnections === 1 && server.connections === 2);
  });

  test('does not talk to a server that its CA does not vouch for', async () => {
    await mount('ca.crt', new CertificateAuthority('somebody else').ca);
    await expect(list()).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(server.requests).toEqual([]);
  });

  test('without a token says what is missing and where', async () => {
    await rm(join(root, 'token'));
    await expect(list()).rejects.toThrow(
      `cannot read ${join(root, 'token')}; is the pod allowed to mount its service account token`,
    );
  });

  test('knows IPv6', () => {
    const { server: url } = inClusterConnection({ host: 'fd00::1', port: 443, root });
    expect(url.href).toBe('https://[fd00::1]/');
  });
});
