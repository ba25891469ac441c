/** `npm start` as a person runs it, on control planes of its own, and on an existing cluster. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testApi } from '../test/api.ts';
import { startCluster } from './cluster.ts';
import { runningFrom } from './processes.ts';
import { binFolderOf, clustersRoot, folderOf } from './cluster-folder.ts';

const program = join(import.meta.dirname, 'start.ts');
interface Run {
  readonly pid: number;
  readonly code: Promise<number | null>;
  /** All that it has said so far. */
  text(): string;
  said(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Run {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let look = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      look();
    });
  }
  const code = once(child, 'close').then(([exit]) => exit as number | null);
  const said = async (pattern: RegExp): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    look = () => pattern.test(text) && resolve(undefined);
    look();
    const ended = code.then((exit) =>
      Promise.reject(new Error(`ended with ${String(exit)} before ${String(pattern)}:\n${text}`)),
    );
    await Promise.race([promise, ended]);
  };
  return { pid: child.pid ?? 0, code, text: () => text, said, kill: (signal) => void child.kill(signal) };
}

/** The name of that run's control plane, once it is there. */
async function clusterOf(run: Run): Promise<string> {
  await run.said(/Control plane ready/);
  const names = readdirSync(clustersRoot()).filter((name) => name.startsWith(`reprise-${run.pid}-`));
  expect(names).toHaveLength(1);
  return names[0] ?? '';
}

/** Nothing of that control plane is left: no process, no file. */
function expectNothingLeft(name: string): void {
  expect(runningFrom(binFolderOf(name))).toEqual([]);
  expect(existsSync(folderOf(name))).toBe(false);
}

test('--once installs, shows the samples becoming ready, and takes everything down', async () => {
  const run = start(['--once']);
  const cluster = await clusterOf(run);
  expect([await run.code, run.text()]).toEqual([0, expect.stringMatching(/WebServer +docs +True/)]);
  expect(run.text()).toMatch(/WebServer +hello +True/);
  expect(run.text()).toContain('ServiceAccount reprise-system/reprise');
  expectNothingLeft(cluster);
}, 120_000);

test('--once says which samples are not ready in time, and why, with exit code 1', async () => {
  const run = start(['--once', '--timeout=0.001']);
  const cluster = await clusterOf(run);
  expect(await run.code).toBe(1);
  expect(run.text()).toMatch(/^not ready after 0\.001 s: WebServer\/docs: .*; WebServer\/hello: .*$/m);
  expectNothingLeft(cluster);
}, 120_000);

test('Ctrl-C while samples are shown ends in order; the table explains how to look around', async () => {
  const run = start([]);
  const cluster = await clusterOf(run);
  await run.said(/Ctrl-C takes everything down/);
  expect(run.text()).toMatch(/export KUBECONFIG=\S+/);
  run.kill('SIGINT');
  expect(await run.code).toBe(0);
  expectNothingLeft(cluster);
}, 120_000);

test('Ctrl-C in the middle of an installation, sent on by npm as well, leaves nothing behind', async () => {
  const run = start([]);
  const cluster = await clusterOf(run);
  await run.said(/\[\d+\/\d+\] created/);
  run.kill('SIGINT');
  run.kill('SIGINT');
  expect(await run.code).toBe(130);
  expectNothingLeft(cluster);
}, 120_000);

test('on an existing cluster it installs in the context that is named, and removes all of it again', async () => {
  // Not the one that the tests share: other tests install the same definitions there.
  await using cluster = await startCluster();
  const { kubeconfig } = cluster;
  const api = testApi(kubeconfig);
  const context = /current-context: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  const run = start(['--context', context, '--yes', '--once'], { KUBECONFIG: kubeconfig });
  expect([await run.code, run.text()]).toEqual([0, expect.stringMatching(/WebServer +docs +True/)]);
  for (const path of [
    '/apis/apps/v1/namespaces/default/deployments/docs',
    '/api/v1/namespaces/reprise-system',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/reprise',
  ]) {
    expect([path, (await api.request('GET', path)).status]).toEqual([path, 404]);
  }
  api.close();
}, 120_000);

test('a context that is not there is told in one line', async () => {
  const kubeconfig = process.env['REPRISE_TEST_KUBECONFIG'] ?? '';
  const run = start(['--context', 'nowhere', '--yes', '--once'], { KUBECONFIG: kubeconfig });
  expect(await run.code).toBe(1);
  expect(run.text().trim().split('\n').at(-1)).toMatch(/has no context "nowhere" \(it has: .+\)/);
}, 60_000);
