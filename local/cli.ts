/** `npm run cluster`: a local control plane that stays until it is stopped. */
import { parseArgs } from 'node:util';

import { folderOf, isClusterName, lockOf, removeCluster } from './cluster-folder.ts';
import { missingFromCluster, openCluster, resumeCluster, startCluster } from './cluster.ts';
import { Interrupted, onInterrupt } from './interrupt.ts';
import { withLock } from './lock.ts';
import { ownerOf } from './owned-folder.ts';
import { progressOn } from './progress.ts';
import type { Progress } from './progress.ts';

const help = `Usage: npm run cluster -- [options]

Starts a Kubernetes control plane on this machine (etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and
nodes simulated by kwok; everything on 127.0.0.1) and prints how to use it:

  eval "$(npm run -s cluster)" && kubectl get nodes

It stays until it is stopped. Your own kubeconfig is not touched.

  --name NAME   which cluster (default: reprise)
  --nodes N     how many simulated nodes a new cluster gets (default: 3)
  --stop        stop the cluster and remove all that is in it
  --help        this text
`;

export interface CliOptions {
  readonly action: 'start' | 'stop' | 'help';
  readonly name: string;
  readonly nodes: number;
}

/** Reads the arguments; throws with one line that says what is wrong. */
export function parseCli(args: readonly string[]): CliOptions {
  const { name, nodes, stop, help } = valuesOf(args);
  if (!isClusterName(name)) {
    throw new Error(`--name ${name}: up to 40 lower-case letters, digits and dashes, please`);
  }
  if (!/^\d{1,4}$/.test(nodes)) throw new Error(`--nodes ${nodes}: a number from 0 to 9999, please`);
  return { action: help ? 'help' : stop ? 'stop' : 'start', name, nodes: Number(nodes) };
}

function valuesOf(args: readonly string[]): { name: string; nodes: string; stop: boolean; help: boolean } {
  const options = {
    name: { type: 'string', default: 'reprise' },
    nodes: { type: 'string', default: '3' },
    stop: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const [first = ''] = (error as Error).message.split('\n');
    throw new Error(`${first.replace(/\.$/, '')}; npm run cluster -- --help shows the options`, { cause: error });
  }
}

/** Runs the command; gives the text for standard output. Everything else is told to `progress`. */
export async function runCli(options: CliOptions, progress: Progress, signal: AbortSignal): Promise<string> {
  if (options.action === 'help') return help;
  const { name } = options;
  const lock = { what: `starts or stops the cluster ${name}`, progress, signal };
  return withLock(lockOf(name), lock, (shared) =>
    options.action === 'stop' ? Promise.resolve(stop(name, shared)) : start(options, shared, signal),
  );
}

async function start(options: CliOptions, progress: Progress, signal: AbortSignal): Promise<string> {
  const begun = Date.now();
  const was = await ensureRunning(options, progress, signal);
  const cluster = openCluster(options.name);
  if (cluster === undefined) throw new Error(`The cluster ${options.name} was removed by another process`);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  progress.say(
    `Cluster ${cluster.name} ${was === 'running' ? 'is running' : `is ready after ${seconds} s`}: ${cluster.server}`,
  );
  progress.say(`Stop it with: npm run cluster -- --stop${cluster.name === 'reprise' ? '' : ` --name ${cluster.name}`}`);
  return `export KUBECONFIG='${cluster.kubeconfig.replaceAll("'", `'\\''`)}'\n`;
}

async function ensureRunning(
  { name, nodes }: CliOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<'running' | 'started'> {
  if (ownerOf(folderOf(name)) !== 'user') {
    progress.say(`Starting the cluster ${name}`);
    await startCluster({ name, nodes, keep: true, progress, signal });
    return 'started';
  }
  const missing = await missingFromCluster(name).catch((error: unknown) => (error as Error).message);
  if (missing === undefined) return 'running';
  progress.say(`The cluster ${name} is there and does not answer: starting its programs again`);
  await resumeCluster(name, { progress, signal });
  return 'started';
}

function stop(name: string, progress: Progress): string {
  const owner = ownerOf(folderOf(name));
  removeCluster(name);
  progress.say(owner === undefined ? `There is no cluster named ${name}` : `Stopped and removed the cluster ${name}`);
  return '';
}

async function main(): Promise<void> {
  using interrupt = onInterrupt();
  try {
    process.stdout.write(await runCli(parseCli(process.argv.slice(2)), progressOn(), interrupt.signal));
  } catch (error) {
    const cause = interrupt.signal.aborted ? (interrupt.signal.reason as Error) : (error as Error);
    process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause instanceof Interrupted ? cause.exitCode : 1;
  }
}

if (import.meta.main) await main();
