/** What the operator does when there is nothing to do: over resyncs, and when it starts and finds everything done. */
import { setTimeout as delay } from 'node:timers/promises';
import { checkAnswer, countRequests, WrongAnswer, type Bench } from './bench.ts';
import { costOf, isMeasurable } from './cost.ts';
import { underLoad } from './leg.ts';
import { startOperatorWorker, type OperatorWorker, type OwnCounts } from './operator-worker.ts';
import { planOf } from './plan.ts';
import { between, requestsIn, writesIn, type Requests } from './requests.ts';

export interface QuietPhase {
  readonly phase: 'at rest' | 'restart' | 'at rest after restart';
  readonly seconds: number;
  /** Looks at a resource that the operator counted itself meanwhile. */
  readonly reconciles: number;
  /** By the server's count, or by the operator's own where that is more: it includes Events. */
  readonly writes: number;
  /** By the server's count, as are the lists. */
  readonly gets: number;
  readonly lists: number;
  /** The operator's memory at the end; absent where the system does not tell. */
  readonly rssMiB?: number;
  /** What the writes and GETs were, by the server's count. */
  readonly requests: Readonly<Record<string, number>>;
}

const resyncPeriod = '2s';
const resyncs = 2;

/** Throws WrongAnswer, or what ended the operator. */
export async function runQuiet(bench: Bench, n: number): Promise<readonly QuietPhase[]> {
  const { kubeconfig, folder, options } = bench;
  const namespace = await bench.api.namespace();
  const props = { kubeconfig, folder, namespace, concurrency: options.concurrency, resyncPeriod };
  const start = (): Promise<OperatorWorker> => startOperatorWorker(props);
  const phases: QuietPhase[] = [];
  {
    await using first = await start();
    await underLoad(bench, first, namespace, planOf(namespace, n));
    phases.push(await duringResyncs(bench, first, 'at rest', n));
  }
  const before = { own: nothingYet, requests: await countRequests(bench), at: performance.now() };
  await using second = await start();
  await untilReconciled(bench, second, n);
  phases.push(await phaseSince(before, 'restart', { bench, operator: second }));
  phases.push(await duringResyncs(bench, second, 'at rest after restart', n));
  await checkAnswer(bench, namespace, n);
  return phases;
}

interface Before {
  readonly at: number;
  readonly requests: Requests;
  readonly own: Pick<OwnCounts, 'reconciles' | 'writes'>;
}

/** Of a process that has not started. */
const nothingYet = { reconciles: 0, writes: 0 };

/** Every resource was looked at as often as there are resyncs: told by the operator, not by the clock. */
async function duringResyncs(
  bench: Bench,
  operator: OperatorWorker,
  phase: QuietPhase['phase'],
  n: number,
): Promise<QuietPhase> {
  const own = await operator.counts();
  const before = { own, requests: await countRequests(bench), at: performance.now() };
  await untilReconciled(bench, operator, own.reconciles + resyncs * n);
  return phaseSince(before, phase, { bench, operator });
}

const lookEveryMs = 50;
const patienceMs = 60_000;

async function untilReconciled(bench: Bench, operator: OperatorWorker, times: number): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const { failed, reconciles, pending } = await Promise.race([operator.counts(), operator.crashed]);
    if (failed > 0) throw new WrongAnswer([`${failed} reconciles failed`]);
    if (reconciles >= times && pending === 0) return;
    if (performance.now() > end)
      throw new WrongAnswer([`${reconciles} of ${times} reconciles after ${patienceMs / 1000} s`]);
    await delay(lookEveryMs, undefined, { signal: bench.signal });
  }
}

async function phaseSince(
  before: Before,
  phase: QuietPhase['phase'],
  { bench, operator }: { readonly bench: Bench; readonly operator: OperatorWorker },
): Promise<QuietPhase> {
  const seconds = (performance.now() - before.at) / 1000;
  const requests = between(before.requests, await countRequests(bench));
  const own = await operator.counts();
  return {
    phase,
    seconds,
    reconciles: own.reconciles - before.own.reconciles,
    writes: Math.max(writesIn(requests), own.writes - before.own.writes),
    gets: requestsIn(requests, 'GET'),
    lists: requestsIn(requests, 'LIST'),
    ...(isMeasurable && { rssMiB: costOf(operator.pid).rssMiB }),
    requests: Object.fromEntries([...requests].filter(([request]) => !request.startsWith('LIST '))),
  };
}
