/** One leg: a fresh namespace, a fresh process that serves it, the load, and what all of it cost. */
import { loadavg, cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { WebServer } from '../crds/webserver/index.ts';
import { checkAnswer, countRequests, creators, WrongAnswer, type Bench } from './bench.ts';
import { busyMs, costOf, isMeasurable } from './cost.ts';
import { startFloor } from './floor-process.ts';
import { createAndObserve, type Load } from './load.ts';
import { startOperatorWorker } from './operator-worker.ts';
import { leastWritesPerResource, planOf, type Planned } from './plan.ts';
import { between, requestsIn, without, writesIn, type Requests } from './requests.ts';
import { latencyOf, type Latency } from './statistics.ts';
import type { Worker } from './worker.ts';

export type Who = 'floor' | 'operator';

/** The figures of one leg; `…PerResource` are divided by the number of WebServers. */
export interface Leg {
  readonly who: Who;
  readonly n: number;
  /** From the first create sent to the last resource seen served. */
  readonly seconds: number;
  /** From the first create sent to the last create answered. */
  readonly createSeconds: number;
  readonly perSecond: number;
  /** From a create answered to its observedGeneration seen. */
  readonly latency: Latency;
  /** By the server's count, the load generator's own taken off. */
  readonly requestsPerResource: Readonly<Record<string, number>>;
  /** By the server's count, or by the worker's own where that is more: it includes Events. */
  readonly writesPerResource: number;
  readonly getsPerResource: number;
  /** Absent where the system does not tell. */
  readonly cost?: LegCost;
  /** Of the last minute, at the end of the leg. */
  readonly loadAverage: number;
}

export interface LegCost {
  /** `worker` is the floor or the operator. */
  readonly cpuMsPerResource: Readonly<Record<'worker' | 'apiserver' | 'etcd' | 'generator', number>>;
  readonly peakRssMiB: number;
  /** Once all is served. */
  readonly steadyRssMiB: number;
  /** Share of the machine's processors that others took. */
  readonly foreignShare: number;
}

/** Throws WrongAnswer, or what ended the worker. */
export async function runLeg(bench: Bench, who: Who, n: number): Promise<Leg> {
  const namespace = await bench.api.namespace();
  const planned = planOf(namespace, n);
  await using worker = await startWorker(bench, who, namespace, planned);
  const requestsBefore = await countRequests(bench);
  const before = look(bench, worker);
  const load = await underLoad(bench, worker, namespace, planned);
  const after = look(bench, worker);
  const requests = without(between(requestsBefore, await countRequests(bench)), ofTheGenerator(n));
  const ownWrites = await worker.ownWrites();
  await checkAnswer(bench, namespace, n);
  if (who === 'floor' && writesIn(requests) !== leastWritesPerResource * n)
    throw new WrongAnswer([`the floor made ${writesIn(requests)} writes, not ${leastWritesPerResource * n}`]);
  return figures({ who, load, requests, ownWrites, before, after });
}

/** Creates all, waits until all are served, and until nothing more happens. */
export async function underLoad(
  bench: Bench,
  worker: Worker,
  namespace: string,
  planned: readonly Planned[],
): Promise<Load> {
  const stop = new AbortController();
  const signal = AbortSignal.any([bench.signal, stop.signal]);
  const objects = planned.map(({ server }) => server);
  const props = { client: bench.client, type: WebServer, namespace, objects, creators, signal };
  const run = async (): Promise<Load> => {
    const load = await createAndObserve(props);
    await untilQuiet(worker, signal);
    return load;
  };
  try {
    return await Promise.race([run(), worker.crashed]);
  } finally {
    stop.abort(new Error('the leg is over'));
  }
}

/** All creates, and the list from which its watch goes on. */
export const ofTheGenerator = (n: number): Requests => {
  const resource = `${WebServer.plural}.${WebServer.group}`;
  return new Map([
    [`POST ${resource}`, n],
    [`LIST ${resource}`, 1],
  ]);
};

function startWorker(bench: Bench, who: Who, namespace: string, planned: readonly Planned[]): Promise<Worker> {
  const { kubeconfig, folder, options } = bench;
  const props = { kubeconfig, folder, namespace, concurrency: options.concurrency };
  if (who === 'operator') return startOperatorWorker({ ...props, resyncPeriod: '30s' });
  return startFloor(
    props,
    Object.fromEntries(planned.map(({ server, children, status }) => [server.metadata.name, { children, status }])),
  );
}

const lookEveryMs = 100;
const quietLooks = 5;

/** Half a second in which the worker neither works nor hears of anything: also what comes after the last status is its cost. */
async function untilQuiet(worker: Worker, signal: AbortSignal): Promise<void> {
  let last = await worker.activity();
  for (let same = 0; same < quietLooks;) {
    await delay(lookEveryMs, undefined, { signal });
    const now = await worker.activity();
    same = now !== undefined && now === last ? same + 1 : 0;
    last = now;
  }
}

interface Look {
  readonly at: number;
  readonly busyMs: number;
  readonly cpuMs: Readonly<Record<keyof LegCost['cpuMsPerResource'], number>>;
  readonly rss: { readonly peakMiB: number; readonly steadyMiB: number };
}

function look({ pids }: Bench, worker: Worker): Look | undefined {
  if (!isMeasurable) return undefined;
  const own = costOf(worker.pid);
  return {
    at: performance.now(),
    busyMs: busyMs(),
    cpuMs: {
      worker: own.cpuMs,
      apiserver: costOf(pids.apiserver).cpuMs,
      etcd: costOf(pids.etcd).cpuMs,
      generator: costOf(process.pid).cpuMs,
    },
    rss: { peakMiB: own.peakRssMiB, steadyMiB: own.rssMiB },
  };
}

interface Findings {
  readonly who: Who;
  readonly load: Load;
  readonly requests: Requests;
  readonly ownWrites: number;
  readonly before: Look | undefined;
  readonly after: Look | undefined;
}

function figures({ who, load, requests, ownWrites, before, after }: Findings): Leg {
  const n = load.latenciesMs.length;
  return {
    who,
    n,
    seconds: load.seconds,
    createSeconds: load.createSeconds,
    perSecond: n / load.seconds,
    latency: latencyOf(load.latenciesMs),
    requestsPerResource: Object.fromEntries([...requests].map(([request, count]) => [request, count / n])),
    writesPerResource: Math.max(writesIn(requests), ownWrites) / n,
    getsPerResource: requestsIn(requests, 'GET') / n,
    ...(before && after && { cost: costBetween(before, after, n) }),
    loadAverage: loadavg()[0] ?? Number.NaN,
  };
}

function costBetween(before: Look, after: Look, n: number): LegCost {
  const spent = (who: keyof Look['cpuMs']): number => after.cpuMs[who] - before.cpuMs[who];
  const cpuMs = {
    worker: spent('worker'),
    apiserver: spent('apiserver'),
    etcd: spent('etcd'),
    generator: spent('generator'),
  };
  const known = Object.values(cpuMs).reduce((sum, each) => sum + each, 0);
  const foreignMs = after.busyMs - before.busyMs - known;
  return {
    cpuMsPerResource: {
      worker: cpuMs.worker / n,
      apiserver: cpuMs.apiserver / n,
      etcd: cpuMs.etcd / n,
      generator: cpuMs.generator / n,
    },
    peakRssMiB: after.rss.peakMiB,
    steadyRssMiB: after.rss.steadyMiB,
    foreignShare: Math.max(0, foreignMs / ((after.at - before.at) * cpus().length)),
  };
}
