import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { binFolderOf, folderOf, sweep } from './cluster-folder.ts';
import { openCluster, startCluster } from './cluster.ts';
import type { LocalCluster } from './cluster.ts';
import { ContextUnusable, existingCluster } from './context.ts';
import { recorded, scratch } from './fixtures/scratch.ts';
import { cacheRoot } from './paths.ts';
import { freePorts } from './ports.ts';
import { runningFrom } from './processes.ts';
import { findPrograms } from './programs.ts';

jest.setTimeout(60_000);

const run = promisify(execFile);
const unique = `${process.pid}-${Date.now().toString(36)}`;
/** Only Linux shows the sockets of a process in its file system. */
const onLinux = process.platform === 'linux' ? test : test.skip;
/** etcd and the API server alone: up in a second. */
const small = { disable: ['kube-controller-manager', 'kube-scheduler', 'kwok-controller'] } as const;

async function kubectl(kubeconfig: string, ...args: readonly string[]): Promise<string> {
  const { kubectl: program } = await findPrograms(['kubectl']);
  return (await run(program, ['--kubeconfig', kubeconfig, ...args])).stdout;
}

const programsOf = (name: string): string[] => runningFrom(binFolderOf(name)).map(({ program }) => program);

/** Local addresses on which a process listens: `0100007F` is 127.0.0.1, as /proc shows it. */
function listenersOf(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]),
  );
  const rows = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1));
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields.filter((field) => field[3] === '0A' && sockets.has(field[9])).map((field) => field[1]!.split(':')[0]!);
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // A file that was closed meanwhile is no listener.
    return '';
  }
}

/** Another process that starts a small cluster, says so, and stays. */
async function otherOwner(name: string): Promise<ChildProcess> {
  const code = `import { startCluster } from ${JSON.stringify(join(import.meta.dirname, 'cluster.ts'))};
    await startCluster(${JSON.stringify({ ...small, name })}); console.log('ready'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  return child;
}

describe('clusters started at the same time', () => {
  const names = {
    own: `reprise-test-${unique}-a`,
    other: `reprise-test-${unique}-b`,
    full: `reprise-test-${unique}-c`,
  };
  let own: LocalCluster;
  let full: LocalCluster;
  let other: ChildProcess;

  beforeAll(async () => {
    [own, full, other] = await Promise.all([
      startCluster({ ...small, name: names.own }),
      startCluster({ name: names.full, nodes: 2 }),
      otherOwner(names.other),
    ]);
  });

  afterAll(async () => {
    other.kill('SIGKILL');
    await Promise.all([own.stop(), full.stop(), openCluster(names.other)?.stop()]);
  });

  test('each has its own API server', async () => {
    const clusters = [own, full, openCluster(names.other)!];
    expect(new Set(clusters.map(({ server }) => server)).size).toBe(3);
    await Promise.all(clusters.map(({ kubeconfig, name }) => kubectl(kubeconfig, 'create', 'namespace', `in-${name}`)));
    for (const { kubeconfig, name } of clusters) {
      const found = await kubectl(kubeconfig, 'get', 'namespaces', '-o', 'name');
      expect(found.split('\n').filter((line) => line.startsWith('namespace/in-'))).toEqual([`namespace/in-${name}`]);
    }
  });

  test('a whole one is ready for pods: nodes Ready, a ServiceAccount, Kubernetes 1.36, room for many Services', async () => {
    expect(programsOf(names.full).sort()).toEqual([
      'etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'kube-scheduler',
      'kwok-controller',
    ]);
    const nodes = await kubectl(full.kubeconfig, 'get', 'nodes', '--no-headers');
    expect(nodes.trim().split('\n')).toEqual([expect.stringMatching(/ Ready /), expect.stringMatching(/ Ready /)]);
    await kubectl(full.kubeconfig, 'create', 'deployment', 'web', '--image=nginx', '--replicas=2');
    await kubectl(full.kubeconfig, 'rollout', 'status', 'deployment/web', '--timeout=20s');
    expect(await kubectl(full.kubeconfig, 'version')).toMatch(/Server Version: v1\.36\./);
    expect(await kubectl(full.kubeconfig, 'get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}')).toBe(
      '10.96.0.1',
    );
  });

  onLinux('nothing listens on any address but loopback', () => {
    const listeners = [names.own, names.full].map((name) =>
      runningFrom(binFolderOf(name)).map(({ pid, program }) => [program, new Set(listenersOf(pid))] as const),
    );
    const loopback = new Set(['0100007F']);
    expect(Object.fromEntries(listeners[1]!)).toEqual({
      etcd: loopback,
      'kube-apiserver': loopback,
      'kube-controller-manager': loopback,
      'kube-scheduler': loopback,
      'kwok-controller': loopback,
    });
    expect(Object.fromEntries(listeners[0]!)).toEqual({ etcd: loopback, 'kube-apiserver': loopback });
  });

  test('a name that is taken is refused, and the cluster of that name stays', async () => {
    await expect(startCluster({ ...small, name: names.own })).rejects.toThrow(
      `A local cluster named ${names.own} is there already`,
    );
    expect(programsOf(names.own)).toHaveLength(2);
  });

  test('after kill -9 of its owner a cluster is swept, and no other one', async () => {
    expect(sweep()).not.toContain(names.other);
    other.kill('SIGKILL');
    await once(other, 'close');
    expect(programsOf(names.other)).toHaveLength(2);
    expect(sweep()).toContain(names.other);
    expect(programsOf(names.other)).toEqual([]);
    expect(existsSync(folderOf(names.other))).toBe(false);
    expect(programsOf(names.own)).toHaveLength(2);
  });

  test('a context of it is checked: who may install, and who may not', async () => {
    using folder = scratch();
    const context = `kwok-${names.own}`;
    expect(await existingCluster(context, { kubeconfig: own.kubeconfig })).toMatchObject({
      server: `${own.server}/`,
      version: expect.stringMatching(/^v1\.36\./),
    });
    await kubectl(own.kubeconfig, 'create', 'serviceaccount', 'weak', '-n', 'default');
    const token = await kubectl(own.kubeconfig, 'create', 'token', 'weak', '-n', 'default');
    const weak = join(folder.path, 'config');
    writeFileSync(weak, readFileSync(own.kubeconfig));
    await kubectl(weak, 'config', 'set-credentials', 'weak', `--token=${token}`);
    await kubectl(weak, 'config', 'set-context', 'weak', `--cluster=${context}`, '--user=weak');
    const problem: unknown = await existingCluster('weak', { kubeconfig: weak }).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(ContextUnusable);
    expect((problem as Error).message).toMatch(/^Context "weak" may not create customresourcedefinitions/);
  });

  test('stopping one twice is no error and leaves nothing', async () => {
    await own.stop();
    await own.stop();
    expect(programsOf(names.own)).toEqual([]);
    expect(existsSync(folderOf(names.own))).toBe(false);
  });
});

describe('a start that goes wrong', () => {
  test('a port that another program took is left to it, and others are tried', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const taken = (squatter.address() as AddressInfo).port;
    const attempts = [[taken, ...(await freePorts(5))], await freePorts(6)];
    const progress = recorded();
    const ports = (): Promise<readonly number[]> => Promise.resolve(attempts.shift()!);
    try {
      await using cluster = await startCluster({ ...small, ports, progress });
      expect(progress.said).toContain('etcd ended while starting: trying again with other ports');
      expect(await kubectl(cluster.kubeconfig, 'get', '--raw', '/readyz')).toBe('ok');
    } finally {
      squatter.close();
    }
  });

  test('a component that cannot start is named with the end of its log, and nothing is left', async () => {
    const name = `reprise-test-${unique}-bad`;
    const extraArgs = [{ component: 'kube-apiserver', key: 'no-such-flag', value: '1' }] as const;
    await expect(startCluster({ ...small, name, extraArgs })).rejects.toThrow(
      /^kube-apiserver ended by itself[\s\S]*unknown flag: --no-such-flag/,
    );
    expect([existsSync(folderOf(name)), programsOf(name)]).toEqual([false, []]);
  });

  test('interrupted while starting, it leaves nothing', async () => {
    const name = `reprise-test-${unique}-cut`;
    const abort = new AbortController();
    const running = startCluster({ name, signal: abort.signal });
    const ended = expect(running).rejects.toThrow();
    while (programsOf(name).length === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error('Ctrl-C'));
    await ended;
    expect([existsSync(folderOf(name)), programsOf(name)]).toEqual([false, []]);
  });
});

describe('npm run cluster', () => {
  const name = `reprise-cli-${unique}`;
  const home = scratch();
  const userKubeconfig = join(home.path, '.kube/config');
  const hash = (): string => createHash('sha256').update(readFileSync(userKubeconfig)).digest('hex');

  async function cli(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    const environment = {
      ...process.env,
      HOME: home.path,
      KUBECONFIG: userKubeconfig,
      XDG_CACHE_HOME: join(cacheRoot(), '..'),
    };
    return run(process.execPath, [join(import.meta.dirname, 'cli.ts'), '--name', name, ...args], { env: environment });
  }

  beforeAll(() => {
    mkdirSync(join(home.path, '.kube'));
    writeFileSync(userKubeconfig, 'apiVersion: v1\nkind: Config\ncurrent-context: mine\n');
  });
  afterAll(async () => {
    await cli('--stop');
    home[Symbol.dispose]();
  });

  test('starts it once, however many ask; it stays, resumes with its state, and stops; nothing of the user is touched', async () => {
    const before = hash();
    const [first, second] = await Promise.all([cli('--nodes', '1'), cli('--nodes', '1')]);
    const line = `export KUBECONFIG='${join(folderOf(name), 'kubeconfig')}'\n`;
    expect([first.stdout, second.stdout]).toEqual([line, line]);
    const kubeconfig = openCluster(name)!.kubeconfig;
    expect(sweep()).not.toContain(name);
    expect((await cli()).stderr).toContain(`Cluster ${name} is running`);

    await kubectl(kubeconfig, 'create', 'namespace', 'kept');
    for (const { pid } of runningFrom(binFolderOf(name))) process.kill(pid, 'SIGKILL');
    const resumed = await cli();
    expect(resumed.stdout).toBe(line);
    expect(resumed.stderr).toContain('starting its programs again');
    expect(await kubectl(kubeconfig, 'get', 'namespace', 'kept', '-o', 'name')).toBe('namespace/kept\n');

    expect((await cli('--stop')).stderr).toContain(`Stopped and removed the cluster ${name}`);
    expect((await cli('--stop')).stderr).toContain(`There is no cluster named ${name}`);
    expect([existsSync(folderOf(name)), programsOf(name)]).toEqual([false, []]);
    expect(hash()).toBe(before);
    expect(readdirSync(home.path, { recursive: true })).toEqual(['.kube', '.kube/config']);
  });
});

describe('the cluster of the test run', () => {
  test('counts requests in its audit log', async () => {
    const kubeconfig = process.env['REPRISE_TEST_KUBECONFIG']!;
    const agent = `audit-${unique}`;
    await kubectl(kubeconfig, 'get', 'configmap', agent, '--ignore-not-found');
    const lines = readFileSync(process.env['REPRISE_TEST_AUDIT_LOG']!, 'utf8').trim().split('\n');
    const events = lines.map(
      (line) => JSON.parse(line) as { verb: string; level: string; objectRef?: { name?: string } },
    );
    expect(events.filter(({ objectRef }) => objectRef?.name === agent)).toMatchObject([
      { verb: 'get', level: 'Metadata' },
    ]);
  });
});
