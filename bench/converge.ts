/**
 * `npm run bench`: what the operator costs beside the least that anybody could do. One server, legs in the order F O O F (so that what
 * drifts hits both), each in a namespace of its own; then the operator at rest and started again. docs/performance.md says how to read it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { startCluster, type LocalCluster } from '../local/cluster.ts';
import { Interrupted, onInterrupt } from '../local/interrupt.ts';
import { progressOn, type Progress } from '../local/progress.ts';
import { bodyOf } from '../test/api.ts';
import { creators, prepare, type Bench } from './bench.ts';
import { runLeg, type Leg } from './leg.ts';
import { benchOptions, usage, UsageError, type BenchOptions } from './options.ts';
import { runQuiet } from './quiet.ts';
import { linesOf, type Report } from './report.ts';
import { verdictsOf } from './targets.ts';

/** So that the first leg that counts is not the one that meets a cold server. */
const warmUp = 50;
const round = ['floor', 'operator', 'operator', 'floor'] as const;

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = benchOptions(args);
    if (options === undefined) {
      console.log(usage);
      return 0;
    }
    return await run(options);
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    console.error(error instanceof Error ? error.message : error);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(options: BenchOptions): Promise<number> {
  using interrupt = onInterrupt();
  const progress = progressOn();
  const { signal } = interrupt;
  await using cluster = await startBenchCluster(progress, signal);
  const bench = await prepare(cluster, options, signal);
  try {
    const report = await measure(bench, progress);
    console.log(linesOf(report).join('\n'));
    progress.say(`Written to ${write(report, options)}`);
    return report.verdicts.every(({ isMet, isCounted }) => isMet || !isCounted) ? 0 : 1;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    bench.client.close();
    bench.api.close();
  }
}

/**
 * etcd and kube-apiserver alone: no other client's work is in the figures. Priority and fairness is off, because it is the server's
 * patience that would be measured with it.
 */
const startBenchCluster = (progress: Progress, signal: AbortSignal): Promise<LocalCluster> =>
  startCluster({
    disable: ['kube-controller-manager', 'kube-scheduler', 'kwok-controller'],
    extraArgs: [{ component: 'kube-apiserver', key: 'enable-priority-and-fairness', value: 'false' }],
    progress,
    signal,
  });

async function measure(bench: Bench, progress: Progress): Promise<Report> {
  const { n, concurrency, rounds } = bench.options;
  for (const who of ['floor', 'operator'] as const) {
    progress.say(`Warming up: ${who}`);
    await runLeg(bench, who, Math.min(n, warmUp));
  }
  const legs: Leg[] = [];
  for (const who of Array.from({ length: rounds }, () => round).flat()) {
    progress.say(`Leg ${legs.length + 1} of ${rounds * round.length}: ${who}`);
    legs.push(await runLeg(bench, who, n));
  }
  progress.say('Last: the operator at rest and started again');
  const quiet = await runQuiet(bench, n);
  return {
    when: new Date().toISOString(),
    commit: commit(),
    machine: await machineOf(bench),
    options: { n, concurrency, rounds },
    creators,
    legs,
    quiet,
    verdicts: verdictsOf(legs, quiet),
  };
}

function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    // Not a clone, or no git: the figures are as good.
    return 'unknown';
  }
}

async function machineOf({ api }: Bench): Promise<Report['machine']> {
  const { gitVersion } = bodyOf(await api.request<{ gitVersion: string }>('GET', '/version'));
  return {
    processors: cpus().length,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: totalmem() / 2 ** 30,
    platform: `${process.platform} ${arch()}`,
    node: process.version,
    kubernetes: gitVersion,
  };
}

const root = join(import.meta.dirname, '..');

function write(report: Report, { out }: BenchOptions): string {
  const path = out ?? join(root, 'bench/results', `converge-${report.when.replace(/[:.]/g, '-')}.json`);
  mkdirSync(dirname(resolve(path)), { recursive: true });
  writeFileSync(path, `${JSON.stringify(report, undefined, 2)}\n`);
  return path;
}

process.exitCode = await main(process.argv.slice(2));
