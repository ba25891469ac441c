import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ResourceType } from '../../charts/resource.ts';
import { CertificateAuthority, type Certificate } from '../../test/fake-apiserver/certificate.ts';
import { FakeApiServer } from '../../test/fake-apiserver/fake-apiserver.ts';
import { soon } from '../../test/eventually.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { createClient, kubeconfigConnection } from './connect.ts';

const Node: ResourceType = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' };
const never = new AbortController().signal;
const authority = new CertificateAuthority();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

let folder: string;
let server: FakeApiServer;
let plain: FakeApiServer;
let me: Certificate;
let clock: FakeClock;
const open: { close(): void }[] = [];

beforeAll(async () => {
  me = authority.issue({ commonName: 'me' });
  const tls = { ...authority.issue({ commonName: 'apiserver', dnsNames: ['apiserver.example'] }), ca: authority.ca };
  server = await FakeApiServer.start({ types: [Node], tls });
  plain = await FakeApiServer.start({ types: [Node] });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-kubeconfig-'));
  clock = new FakeClock();
  server.requests.length = 0;
  server.requireToken(undefined);
});

afterEach(async () => {
  for (const client of open.splice(0)) client.close();
  await rm(folder, { recursive: true });
});

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly current?: string;
}

/** Certificate for another name than the address: each cluster has to say how it wants to be checked. */
const trusting = (): object => ({
  server: server.url.href,
  'certificate-authority-data': base64(authority.ca),
  'tls-server-name': 'apiserver.example',
});

const writeConfig = async (
  { cluster = trusting(), user = {}, current = 'dev' }: Parts = {},
  name = 'config',
): Promise<string> => {
  const path = join(folder, name);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    contexts: [
      { name: 'dev', context: { cluster: 'c', user: 'u' } },
      { name: 'orphan', context: { cluster: 'c', user: 'nobody' } },
      { name: 'homeless', context: { cluster: 'nowhere', user: 'u' } },
    ],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  };
  await writeFile(path, stringify(config));
  return path;
};

const listWith = async (path: string, context?: string) => {
  const connection = await kubeconfigConnection({ path, clock, ...(context !== undefined && { context }) });
  const client = createClient({ connection, fieldManager: 'reprise', clock });
  open.push(client);
  const list = () => client.list(Node, {}, never);
  await list();
  return list;
};

const last = () => server.requests.at(-1)!;

describe('who we are', () => {
  test('a token', async () => {
    await listWith(await writeConfig({ user: { token: 'secret' } }));
    expect(last().headers.authorization).toBe('Bearer secret');
  });

  test('a name and a password', async () => {
    await listWith(await writeConfig({ user: { username: 'ann', password: 'p:w' } }));
    expect(last().headers.authorization).toBe(`Basic ${base64('ann:p:w')}`);
  });

  test('a client certificate in the file', async () => {
    const user = { 'client-certificate-data': base64(me.cert), 'client-key-data': base64(me.key) };
    await listWith(await writeConfig({ user }));
    expect(last().clientName).toBe('me');
  });

  test('a client certificate beside the file', async () => {
    await writeFile(join(folder, 'me.crt'), me.cert);
    await writeFile(join(folder, 'me.key'), me.key);
    await listWith(await writeConfig({ user: { 'client-certificate': 'me.crt', 'client-key': 'me.key' } }));
    expect(last().clientName).toBe('me');
  });

  test('a token file that is read again when it is refused', async () => {
    await writeFile(join(folder, 'token'), 'first\n');
    const list = await listWith(await writeConfig({ user: { tokenFile: join(folder, 'token') } }));
    await writeFile(join(folder, 'token'), 'second');
    server.requireToken('second');
    clock.advance(10_000);
    await list();
    expect(last().headers.authorization).toBe('Bearer second');
  });
});

describe('an exec plugin', () => {
  /** Prints the token that lies in a file, and notes that it ran. */
  const plugin = async (extra = ''): Promise<object> => {
    const script = join(folder, 'plugin');
    const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$(cat ${folder}/token)'"${extra}}}`;
    await writeFile(script, `#!/bin/sh\necho run >> ${folder}/runs\necho '${credential}'\n`);
    await chmod(script, 0o700);
    await writeFile(join(folder, 'token'), 'first');
    return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: script, interactiveMode: 'Never' } };
  };
  const runs = async (): Promise<number> => (await readFile(join(folder, 'runs'), 'utf8')).trim().split('\n').length;

  test('gives the token, and is not run for each request', async () => {
    const list = await listWith(await writeConfig({ user: await plugin() }));
    for (let i = 0; i < 5; i += 1) {
      clock.advance(20_000);
      await list();
    }
    expect(last().headers.authorization).toBe('Bearer first');
    expect(await runs()).toBe(1);
  });

  test('is run again when what it gave has expired', async () => {
    const list = await listWith(
      await writeConfig({ user: await plugin(',"expirationTimestamp":"2020-01-01T00:00:00Z"') }),
    );
    await writeFile(join(folder, 'token'), 'second');
    clock.advance(20_000);
    await list();
    expect(last().headers.authorization).toBe('Bearer second');
  });

  test('is run again when what it gave is refused, and the request is sent again', async () => {
    const list = await listWith(await writeConfig({ user: await plugin() }));
    await writeFile(join(folder, 'token'), 'second');
    server.requireToken('second');
    clock.advance(6_000);
    await list();
    expect(last().headers.authorization).toBe('Bearer second');
    expect(await runs()).toBe(2);
  });

  test('that never answers is given up after two minutes, and sooner by who waits', async () => {
    const script = join(folder, 'waiting');
    await writeFile(script, `#!/bin/sh\necho $$ > ${folder}/pid\nexec sleep 60\n`);
    await chmod(script, 0o700);
    const path = await writeConfig({
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: script } },
    });
    const client = createClient({
      connection: await kubeconfigConnection({ path, clock }),
      fieldManager: 'reprise',
      clock,
    });
    open.push(client);
    const stop = new AbortController();
    const impatient = client.list(Node, {}, stop.signal);
    const patient = client.list(Node, {}, never);
    await soon(() => clock.waits.includes(120_000));
    stop.abort(new Error('enough'));
    await expect(impatient).rejects.toThrow('enough');
    clock.advance(120_000);
    await expect(patient).rejects.toThrow(
      'the credentials of context "dev" cannot be had: the exec plugin did not answer within 120 s',
    );
    const pid = join(folder, 'pid');
    await soon(() => existsSync(pid) && readFileSync(pid, 'utf8').endsWith('\n'));
    process.kill(Number(readFileSync(pid, 'utf8')));
  });

  test('that is not there or fails is told in one line', async () => {
    const missing = await writeConfig({
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/no/such/plugin' } },
    });
    await expect(listWith(missing)).rejects.toThrow(
      /^the credentials of context "dev" cannot be had: .*\/no\/such\/plugin.*ENOENT$/,
    );
    const script = join(folder, 'failing');
    await writeFile(script, '#!/bin/sh\necho log in first >&2\necho more >&2\nexit 1\n');
    await chmod(script, 0o700);
    const failing = await writeConfig({
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: script } },
    });
    await expect(listWith(failing)).rejects.toThrow(/^the credentials of context "dev" cannot be had: log in first$/);
  });
});

describe('whom we trust', () => {
  test('nobody but the given CA', async () => {
    const other = base64(new CertificateAuthority('other').ca);
    const path = await writeConfig({ cluster: { ...trusting(), 'certificate-authority-data': other } });
    await expect(listWith(path)).rejects.toMatchObject({ name: 'ConnectionError' });
  });

  test('the name in the certificate must be the server’s, unless the kubeconfig says which', async () => {
    const { 'tls-server-name': _, ...without } = trusting() as Record<string, string>;
    await expect(listWith(await writeConfig({ cluster: without }))).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  test('anybody, if the kubeconfig insists', async () => {
    await listWith(await writeConfig({ cluster: { server: server.url.href, 'insecure-skip-tls-verify': true } }));
    expect(server.requests).toHaveLength(1);
  });

  test('a CA in a file beside the kubeconfig', async () => {
    await writeFile(join(folder, 'ca.crt'), authority.ca);
    const cluster = {
      server: server.url.href,
      'certificate-authority': 'ca.crt',
      'tls-server-name': 'apiserver.example',
    };
    await listWith(await writeConfig({ cluster }));
    expect(server.requests).toHaveLength(1);
  });

  test('no secret goes over a connection without TLS', async () => {
    await listWith(await writeConfig({ cluster: { server: plain.url.href }, user: { token: 'secret' } }));
    expect(plain.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('which context', () => {
  test('the one that is asked for', async () => {
    await listWith(await writeConfig({ current: 'orphan' }), 'dev');
    expect(server.requests).toHaveLength(1);
  });

  test('one of several files, as in KUBECONFIG', async () => {
    const first = join(folder, 'first');
    await writeFile(
      first,
      stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'dev', contexts: [], clusters: [], users: [] }),
    );
    await listWith(`${first}:${await writeConfig()}:${join(folder, 'not-there')}`);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a kubeconfig that cannot be used is told in one line that says where and what to do', () => {
  const refused = (path: string, context?: string) =>
    kubeconfigConnection({ path, ...(context !== undefined && { context }) });

  test('not there', async () => {
    const path = join(folder, 'none');
    await expect(refused(path)).rejects.toThrow(`no kubeconfig at ${path}; set KUBECONFIG or pass --kubeconfig`);
  });

  test.each([
    ['not YAML', 'a: [', /^kubeconfig \S+ cannot be read: .*\S$/],
    ['not a map', '- 1', /^kubeconfig \S+ sets no current-context; choose one with --context \(it has no contexts\)$/],
    ['empty', '', /^kubeconfig \S+ cannot be read: .*\S$/],
    [
      'a cluster without a server',
      'clusters: [{name: c, cluster: {}}]',
      /^kubeconfig \S+ cannot be read: clusters\[0\].cluster.server is missing$/,
    ],
  ])('%s', async (_, content, message) => {
    const path = join(folder, 'config');
    await writeFile(path, content);
    const error = await refused(path).catch((each: unknown) => each);
    expect(error).toMatchObject({
      name: 'KubeconfigError',
      reason: 'BadKubeconfig',
      message: expect.stringMatching(message),
    });
  });

  test('a context that is not there, and which are', async () => {
    const path = await writeConfig();
    await expect(refused(path, 'prod')).rejects.toThrow(
      `kubeconfig ${path} has no context "prod" (it has: dev, orphan, homeless)`,
    );
  });

  test('no current context', async () => {
    const path = await writeConfig({ current: '' });
    await expect(refused(path)).rejects.toThrow(
      `kubeconfig ${path} sets no current-context; choose one with --context (it has: dev, orphan, homeless)`,
    );
  });

  test('a context that leads nowhere', async () => {
    const path = await writeConfig();
    await expect(refused(path, 'orphan')).rejects.toThrow(
      `kubeconfig ${path}: context "orphan" names user "nobody", which is not there`,
    );
    await expect(refused(path, 'homeless')).rejects.toThrow(
      `kubeconfig ${path}: context "homeless" names cluster "nowhere", which is not there`,
    );
  });

  test.each([
    [
      'a proxy',
      { cluster: { server: 'https://127.0.0.1:1', 'proxy-url': 'http://proxy' } },
      'goes through a proxy-url, which is not supported',
    ],
    [
      'another user’s name',
      { user: { as: 'admin', token: 't' } },
      'impersonates another user ("as"), which is not supported',
    ],
  ])('what would be ignored: %s', async (_, parts, why) => {
    const path = await writeConfig(parts);
    await expect(refused(path)).rejects.toThrow(`kubeconfig ${path}: context "dev" ${why}`);
  });

  test('a server that is no address', async () => {
    const path = await writeConfig({ cluster: { server: 'localhost:6443' } });
    await expect(refused(path)).rejects.toThrow(
      `kubeconfig ${path}: cluster "c" has no usable server address ("localhost:6443")`,
    );
  });

  test('a server that is not there', async () => {
    const path = await writeConfig({ cluster: { server: 'https://127.0.0.1:1' } });
    await expect(listWith(path)).rejects.toThrow(
      `no answer from https://127.0.0.1:1 (context dev of ${path}): connection refused`,
    );
  });
});
