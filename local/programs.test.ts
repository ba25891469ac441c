import { describe, expect, test } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { releaseServer, sha256, whole } from './fixtures/release-server.ts';
import type { ReleaseServer } from './fixtures/release-server.ts';
import { recorded, scratch, script } from './fixtures/scratch.ts';
import { startOf } from './owner.ts';
import { freePorts } from './ports.ts';
import { findPrograms, ProgramsMissing } from './programs.ts';
import type { FindOptions } from './programs.ts';
import { programs } from './programs/table.ts';

const linux = { os: 'linux', cpu: 'x64' };
const etcdScript = '#!/bin/sh\necho etcd Version: 3.6.14\n';
const schedulerScript = '#!/bin/sh\necho Kubernetes v1.36.2\n';

/** A machine: folders of its own, nothing on PATH but what the system needs, no release host that answers. */
async function machine(): Promise<{ options: FindOptions; said: string[]; bin: string; cache: string } & Disposable> {
  const folder = scratch();
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  for (const tool of ['sh', 'tar', 'gzip', 'touch', 'chmod', 'sleep', 'cat']) {
    script(join(bin, tool), `PATH=/usr/bin:/bin exec ${tool} "$@"`);
  }
  const [port] = await freePorts(1);
  const nobody = `http://127.0.0.1:${port}`;
  const progress = recorded();
  const environment = { PATH: bin, XDG_CACHE_HOME: join(folder.path, 'cache') };
  return {
    options: { environment, progress, platform: linux, hosts: { kubernetes: nobody, github: nobody } },
    said: progress.said,
    bin,
    cache: join(folder.path, 'cache/reprise/programs'),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Puts a `go` on PATH that "builds" programs which tell the version of the table. */
function installGo(bin: string, ...before: readonly string[]): void {
  script(
    join(bin, 'go'),
    'case "$1" in env) echo go1.26.8; echo local; exit 0;; list) echo unsafe; exit 0;; esac',
    ...before,
    'while [ "$1" != -o ]; do shift; done; out="$2"; shift 2',
    'for package in "$@"; do case "$package" in',
    `  */etcd/server/v3) printf '${etcdScript.replaceAll('\n', '\\n')}' > "$out/server"; chmod +x "$out/server";;`,
    `  *) name="\${package##*/}"; printf '${schedulerScript.replaceAll('\n', '\\n')}' > "$out/$name"; chmod +x "$out/$name";;`,
    'esac; done',
  );
}

function serveScheduler(server: ReleaseServer, sum = sha256(schedulerScript)): void {
  const path = '/release/v1.36.2/bin/linux/amd64/kube-scheduler';
  server.serve(path, whole(schedulerScript));
  server.serve(`${path}.sha256`, whole(sum));
}

describe('the order in which programs are found', () => {
  test('first KUBEBUILDER_ASSETS, then PATH', async () => {
    using here = await machine();
    const assets = join(here.bin, '../assets');
    script(join(assets, 'etcd'), 'echo etcd Version: 3.6.1');
    script(join(here.bin, 'etcd'), 'echo etcd Version: 3.6.2');
    script(join(here.bin, 'kube-scheduler'), 'echo Kubernetes v1.36.0');
    const environment = { ...here.options.environment, KUBEBUILDER_ASSETS: assets };
    const found = await findPrograms(['etcd', 'kube-scheduler'], { ...here.options, environment });
    expect(found).toEqual({ etcd: join(assets, 'etcd'), 'kube-scheduler': join(here.bin, 'kube-scheduler') });
    expect(here.said).toEqual([]);
  });

  test('a release is downloaded, said, and found in the cache the next time', async () => {
    using here = await machine();
    await using server = await releaseServer();
    serveScheduler(server);
    const options = { ...here.options, hosts: { kubernetes: server.base, github: server.base } };
    const first = await findPrograms(['kube-scheduler'], options);
    expect(readFileSync(first['kube-scheduler'], 'utf8')).toBe(schedulerScript);
    expect(here.said).toEqual(['Downloaded kube-scheduler 1.36.2 (1 of 1), SHA-256 checked']);
    expect(await findPrograms(['kube-scheduler'], options)).toEqual(first);
    expect(server.asked).toHaveLength(2);
    expect(readdirSync(here.cache)).toHaveLength(1);
  });

  test('what cannot be downloaded is built, and only that; the reason is one line', async () => {
    using here = await machine();
    await using server = await releaseServer();
    serveScheduler(server);
    installGo(here.bin);
    const hosts = { kubernetes: server.base, github: here.options.hosts!.github };
    const found = await findPrograms(['etcd', 'kube-scheduler', 'kwok'], { ...here.options, hosts }).catch(
      (error: unknown) => error,
    );
    // The "kwok" of that go tells a Kubernetes version: it is not kept, and the others are.
    expect(found).toBeInstanceOf(ProgramsMissing);
    expect((found as Error).message).toContain('the built kwok says 1.36.2');
    expect(await findPrograms(['etcd', 'kube-scheduler'], here.options)).toEqual({
      etcd: expect.stringMatching(/programs\/[0-9a-f]{16}\/etcd$/),
      'kube-scheduler': expect.stringMatching(/programs\/[0-9a-f]{16}\/kube-scheduler$/),
    });
    expect(here.said).toEqual([
      'Downloaded kube-scheduler 1.36.2 (2 of 3), SHA-256 checked',
      expect.stringMatching(/^Not downloaded: 127\.0\.0\.1:\d+: ECONNREFUSED$/),
      'Building etcd, kwok from Go modules; this is done once',
      expect.stringMatching(/^Built etcd, kwok in /),
    ]);
  });

  test('a release with a wrong checksum is not used, and built instead', async () => {
    using here = await machine();
    await using server = await releaseServer();
    serveScheduler(server, sha256('something else'));
    installGo(here.bin);
    const hosts = { kubernetes: server.base, github: server.base };
    const found = await findPrograms(['kube-scheduler'], { ...here.options, hosts });
    expect(found['kube-scheduler']).toContain(here.cache);
    expect(here.said[0]).toMatch(/^Not downloaded: http:.*kube-scheduler: SHA-256 is [0-9a-f]{64}, expected/);
    expect(here.said[1]).toMatch(/^Building kube-scheduler/);
  });

  test('a downloaded program that does not run is not kept', async () => {
    using here = await machine();
    await using server = await releaseServer();
    const path = '/release/v1.36.2/bin/linux/amd64/kube-scheduler';
    server.serve(path, whole('for another architecture'));
    server.serve(`${path}.sha256`, whole(sha256('for another architecture')));
    const hosts = { kubernetes: server.base, github: server.base };
    await expect(findPrograms(['kube-scheduler'], { ...here.options, hosts })).rejects.toThrow('the program ');
    expect(readdirSync(here.cache)).toEqual([]);
  });

  test('macOS has no releases: everything is built', async () => {
    using here = await machine();
    await using server = await releaseServer();
    installGo(here.bin);
    const hosts = { kubernetes: server.base, github: server.base };
    await findPrograms(['etcd'], { ...here.options, hosts, platform: { os: 'darwin', cpu: 'arm64' } });
    expect(server.asked).toEqual([]);
    expect(here.said[0]).toBe('Building etcd from Go modules; this is done once');
  });
});

describe('when there is no way', () => {
  test('one line names every way and why it failed', async () => {
    using here = await machine();
    script(join(here.bin, 'etcd'), 'echo etcd Version: 3.4.0');
    const problem: unknown = await findPrograms(['etcd', 'kwok'], here.options).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(ProgramsMissing);
    const { message } = problem as Error;
    expect(message).not.toContain('\n');
    expect(message).toMatch(/^Cannot get etcd 3\.6\.14, kwok 0\.8\.0 \(/);
    for (const part of ['ECONNREFUSED', 'no go on PATH', 'KUBEBUILDER_ASSETS', 'PATH', 'Go 1.26', '--context NAME']) {
      expect(message).toContain(part);
    }
    expect(here.said[0]).toBe(`Skipped: ${join(here.bin, 'etcd')} is 3.4.0, 3.6 is needed`);
    expect(readdirSync(here.cache)).toEqual([]);
  });

  test('an unknown platform is named, and a cluster of the user is the way', async () => {
    using here = await machine();
    const platform = { os: 'win32', cpu: 'x64' };
    await expect(findPrograms(['etcd'], { ...here.options, platform })).rejects.toThrow(
      /there are no releases for win32 on x64; nothing can be built for win32.*--context NAME/,
    );
  });

  test('a host that does not answer costs one attempt, however many programs it has', async () => {
    using here = await machine();
    const problem = findPrograms(['kube-apiserver', 'kube-scheduler', 'kubectl'], here.options);
    await expect(problem).rejects.toThrow(/\(127\.0\.0\.1:\d+: ECONNREFUSED; no go on PATH\)/);
    expect(here.said.join().match(/ECONNREFUSED/g)).toHaveLength(1);
  });
});

describe('an interrupted build', () => {
  test('leaves nothing when it is asked to end', async () => {
    using here = await machine();
    installGo(here.bin, 'trap "exit 1" INT', 'echo unsafe >&2', 'while true; do sleep 0.05; done');
    const abort = new AbortController();
    const reason = new Error('Ctrl-C');
    const progress = { say: () => undefined, update: () => abort.abort(reason) };
    await expect(findPrograms(['etcd'], { ...here.options, progress, signal: abort.signal })).rejects.toBe(reason);
    expect(readdirSync(here.cache)).toEqual([]);
  });

  test('after kill -9 the next run ends what still works, clears up and builds', async () => {
    using here = await machine();
    const mark = join(here.bin, 'building');
    installGo(here.bin, `echo $$ > ${mark}`, 'exec sleep 60');
    const code = `import { findPrograms } from ${JSON.stringify(join(import.meta.dirname, 'programs.ts'))};
      await findPrograms(['etcd'], ${JSON.stringify({ platform: linux, hosts: here.options.hosts })});`;
    const environment = here.options.environment!;
    const watcher = watch(here.bin);
    const first = spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: { ...environment, PATH: [here.bin, '/usr/bin', '/bin'].join(delimiter) },
      stdio: 'ignore',
    });
    let worker = 0;
    while (worker === 0) {
      await once(watcher, 'change');
      worker = readdirSync(here.bin).includes('building') ? Number(readFileSync(mark, 'utf8')) : 0;
    }
    watcher.close();
    first.kill('SIGKILL');
    await once(first, 'close');
    expect(startOf(worker)).toBeDefined();
    expect(readdirSync(here.cache).sort()).toEqual([expect.stringMatching(/^\.draft-/), 'lock', 'lock.progress']);
    installGo(here.bin);
    await findPrograms(['etcd'], here.options);
    expect(readdirSync(here.cache)).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
    while (startOf(worker) !== undefined) await new Promise((resolve) => setImmediate(resolve));
  });
});

test('two that need the same program at the same time get it once', async () => {
  using here = await machine();
  const runs = join(here.bin, 'runs');
  writeFileSync(runs, '');
  installGo(here.bin, `echo run >> ${runs}`);
  const found = await Promise.all([findPrograms(['etcd'], here.options), findPrograms(['etcd'], here.options)]);
  expect(found[0]).toEqual(found[1]);
  expect(readFileSync(runs, 'utf8')).toBe('run\n');
  expect(execFileSync(found[0].etcd, { encoding: 'utf8' })).toContain(programs.etcd.version);
});
