/**
 * `npm start`: the main job, end to end. A control plane, `pulumi up`, the operator as the installed ServiceAccount, the samples
 * becoming ready, and a word on how to look around. Everything that was begun is taken down again, whatever happens.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../charts/resource.ts';
import { apiVersionOf } from '../charts/resource.ts';
import { kinds } from '../crds/index.ts';
import type { Kind } from '../crds/kind.ts';
import type { ClosableClient } from '../operator/kube/connect.ts';
import { createClient, kubeconfigConnection } from '../operator/kube/connect.ts';
import { isNotFound } from '../operator/kube/errors.ts';
import { binFolderOf, removeCluster } from './cluster-folder.ts';
import { startCluster } from './cluster.ts';
import { existingCluster } from './context.ts';
import { onInterrupt } from './interrupt.ts';
import type { Interrupted } from './interrupt.ts';
import { watchKinds } from './live.ts';
import { startOperator } from './operator-process.ts';
import { clusterPrograms, findPrograms } from './programs.ts';
import type { Programs } from './programs.ts';
import { progressOn } from './progress.ts';
import { PulumiSession } from './pulumi.ts';
import { samples } from './samples.ts';
import { serviceAccountKubeconfig } from './service-account.ts';
import { follow, Screen, untilReady } from './show.ts';
import { startOptions, usage, UsageError } from './start-options.ts';
import type { StartOptions } from './start-options.ts';

/** What the samples and the operator are given. */
const namespace = 'default';
const operatorNamespace = 'reprise-system';
const operatorAccount = 'reprise';

/** Where everything happens: a local control plane, or a cluster of the user's. */
interface Target {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Ours alone, so that it goes as a whole: nothing on it needs to be removed first. */
  readonly ours: boolean;
  /** Where the programs of a control plane of ours lie. */
  readonly programsFolder?: string;
}

const progress = progressOn();
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function start(options: StartOptions, signal: AbortSignal): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'reprise-start-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));

  // All at once: what has to be built is built in one go.
  const isLocal = options.context === undefined;
  const programs = await findPrograms(isLocal ? [...clusterPrograms, 'pulumi'] : ['pulumi'], { progress, signal });
  const target = isLocal ? await localTarget(programs, cleanup, signal) : await existingTarget(options);
  if (target === undefined) return;
  await install(target, { cli: programs.pulumi, folder, signal }, cleanup);

  const admin = adminOf(target);
  const account = { namespace: operatorNamespace, name: operatorAccount };
  const identity = cleanup.use(await serviceAccountKubeconfig(admin, account, folder, (line) => progress.say(line)));
  const logFile = join(folder, 'operator.log');
  const probes = ['--metrics-bind-address=0', '--health-probe-bind-address=0'];
  const operator = cleanup.use(
    await startOperator({
      kubeconfig: identity.path,
      namespaces: [namespace],
      logFile,
      flags: probes,
      ...(target.programsFolder !== undefined && { programsFolder: target.programsFolder }),
    }),
  );
  progress.say(`Operator started as ServiceAccount ${operatorNamespace}/${operatorAccount} (log: ${logFile})`);

  const client = cleanup.adopt(await clientOf(target, 'kubectl'), (each) => each.close());
  const applied = await applySamples(client, target, cleanup, signal);
  const watching = new AbortController();
  cleanup.defer(() => watching.abort());
  const live = watchKinds(client, kinds, namespace, watching.signal);
  const view = { live, operator, screen: new Screen(process.stdout) };
  await untilReady(view, applied, options.timeoutMs, signal);
  if (options.once) return;
  view.screen.say(lookAround(target, applied));
  await follow(view, signal);
}

async function localTarget(programs: Programs, cleanup: AsyncDisposableStack, signal: AbortSignal): Promise<Target> {
  const begun = Date.now();
  const cluster = cleanup.use(await startCluster({ programs, progress, signal }));
  // Also on the second Ctrl-C, which does not wait for the orderly way.
  process.once('exit', () => removeCluster(cluster.name));
  progress.say(`Control plane ready at ${cluster.server} in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  const programsFolder = binFolderOf(cluster.name);
  return { kubeconfig: cluster.kubeconfig, context: undefined, ours: true, programsFolder };
}

async function existingTarget(options: StartOptions): Promise<Target | undefined> {
  const { context, kubeconfig, server, version } = await existingCluster(options.context ?? '');
  const question = `Install Reprise on context "${context}" (${server}, ${version}), with samples in namespace ${namespace}? [y/N] `;
  if (!options.yes && !(await isYes(question))) {
    say('Nothing was done.');
    return undefined;
  }
  return { kubeconfig, context, ours: false };
}

async function isYes(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('--context asks before it installs; without a terminal pass --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test(await terminal.question(question));
  } finally {
    terminal.close();
  }
}

interface Installer {
  readonly cli: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** The operator runs as a process here, so its Deployment is installed with no replicas. Samples come later, when it runs. */
async function install(
  target: Target,
  { cli, folder, signal }: Installer,
  cleanup: AsyncDisposableStack,
): Promise<void> {
  const settings = {
    samples: false,
    replicas: 0,
    watchNamespaces: namespace,
    ...(target.kubeconfig !== undefined && { kubeconfig: target.kubeconfig }),
    ...(target.context !== undefined && { context: target.context }),
  };
  const place = { cli, folder: join(folder, 'pulumi'), settings, progress };
  const session = cleanup.use(await PulumiSession.open({ ...place, signal }));
  if (!target.ours) {
    cleanup.defer(async () => {
      await using last = await PulumiSession.open(place);
      await last.destroy();
    });
  }
  const changes = await session.up();
  progress.say(
    `pulumi up: ${Object.entries(changes)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}`,
  );
}

function adminOf(target: Target): KubeConfig {
  const admin = new KubeConfig();
  if (target.kubeconfig === undefined) admin.loadFromDefault();
  else admin.loadFromFile(target.kubeconfig);
  if (target.context !== undefined) admin.setCurrentContext(target.context);
  return admin;
}

async function clientOf(target: Target, fieldManager: string): Promise<ClosableClient> {
  const connection = await kubeconfigConnection({
    ...(target.kubeconfig !== undefined && { path: target.kubeconfig }),
    ...(target.context !== undefined && { context: target.context }),
  });
  return createClient({ connection, fieldManager });
}

async function applySamples(
  client: ClosableClient,
  target: Target,
  cleanup: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const applied: Applied[] = [];
  if (!target.ours) cleanup.defer(() => removeSamples(client, applied));
  for (const sample of samples(namespace)) {
    const type = kinds.find((kind) => kind.kind === sample.kind && apiVersionOf(kind) === sample.apiVersion);
    if (type === undefined)
      throw new Error(`sample ${sample.metadata.name}: no kind ${sample.apiVersion} ${sample.kind}`);
    applied.push({ type, live: await client.apply(type, sample, signal) });
  }
  progress.say(`Applied ${applied.length} samples in namespace ${namespace}`);
  return applied.map(({ live }) => live);
}

interface Applied {
  readonly type: Kind;
  readonly live: KubeObject;
}

/** The garbage collector looks for new types every 30 s. */
const collectedInMs = 120_000;
const askAgainMs = 250;

/**
 * In the foreground, and to the end: once their definition is gone, the garbage collector no longer knows the owners of what is left
 * and would leave it for ever.
 */
async function removeSamples(client: ClosableClient, applied: readonly Applied[]): Promise<void> {
  progress.say('Removing the samples, and waiting until their children are collected');
  const limit = AbortSignal.timeout(collectedInMs);
  const remove = async ({ type, live }: Applied): Promise<void> => {
    const { name, uid = '' } = live.metadata;
    const options = { uid, propagationPolicy: 'Foreground' } as const;
    await client.delete(type, { namespace, name }, options, limit);
    while (await isThere(client, type, live, limit)) await sleep(askAgainMs, undefined, { signal: limit });
  };
  await Promise.all(applied.map(remove));
}

async function isThere(
  client: ClosableClient,
  type: Kind,
  { metadata }: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const found = await client.get(type, { namespace, name: metadata.name }, signal);
    return found.metadata.uid === metadata.uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function lookAround(target: Target, applied: readonly KubeObject[]): string {
  const flags = target.context === undefined ? '' : ` --context ${target.context}`;
  const environment = target.ours ? `  export KUBECONFIG=${target.kubeconfig ?? ''}\n` : '';
  const scalable = applied.find((sample) =>
    kinds.some((kind) => kind.kind === sample.kind && kind.scale !== undefined),
  );
  const { kind = 'WebServer', metadata } = scalable ?? applied[0] ?? {};
  const resource = `${kind.toLowerCase()} ${metadata?.name ?? ''}`;
  return `
All samples are ready. In another terminal:

${environment}  kubectl get reprise${flags}
  kubectl describe ${resource}${flags}
  kubectl scale ${resource} --replicas=5${flags}
  kubectl edit ${resource}${flags}
  kubectl explain ${kind.toLowerCase()}.spec${flags}
  kubectl delete ${resource}${flags}

Ctrl-C takes everything down.
`;
}

/** Gives the exit code; every failure is told in one line. */
async function main(): Promise<number> {
  using interrupt = onInterrupt();
  try {
    const options = startOptions(process.argv.slice(2));
    if (options === undefined) say(usage);
    else await start(options, interrupt.signal);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) {
      // Not at rest yet: everything was taken down on the way here.
      progress.say('Interrupted: everything was taken down');
      return (interrupt.signal.reason as Interrupted).exitCode;
    }
    progress.say(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main();
