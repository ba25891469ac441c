/** The operator of a leg: operator/main.ts as a process, looked at from outside by its own metrics and probes. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startOperator } from '../local/operator-process.ts';
import { freePorts } from '../local/ports.ts';
import { sumOf } from './exposition.ts';
import type { Worker, WorkerProps } from './worker.ts';

export interface OperatorWorker extends Worker {
  readonly counts: () => Promise<OwnCounts>;
}

/** What the operator says of itself, since it started. */
export interface OwnCounts {
  readonly reconciles: number;
  readonly failed: number;
  /** Requests that were no GET, Events included. */
  readonly writes: number;
  readonly watchEvents: number;
  /** Keys that wait or are worked on. */
  readonly pending: number;
}

export interface OperatorWorkerProps extends WorkerProps {
  /** As the flag takes it. */
  readonly resyncPeriod: string;
}

/** Resolves when /readyz says so; the caller looks at the clock before and after. */
export async function startOperatorWorker(props: OperatorWorkerProps): Promise<OperatorWorker> {
  const { kubeconfig, namespace, concurrency, resyncPeriod, folder } = props;
  const [metrics = 0, probes = 0] = await freePorts(2);
  const operator = await startOperator({
    kubeconfig,
    namespaces: [namespace],
    logFile: join(folder, `operator-${namespace}-${metrics}.log`),
    flags: [
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--max-concurrent-reconciles=${concurrency}`,
      `--resync-period=${resyncPeriod}`,
    ],
  });
  let isAsked = false;
  const crashed = operator.ended.then(({ code, signal, lastLines }) => {
    if (!isAsked) throw new Error(`the operator ended by itself (${signal ?? String(code)}): ${lastLines}`);
    return new Promise<never>(() => undefined);
  });
  crashed.catch(() => undefined);
  const stop = async (): Promise<void> => {
    isAsked = true;
    await operator.stop();
  };
  const counts = async (): Promise<OwnCounts> => countsIn(await textOf(`http://127.0.0.1:${metrics}/metrics`));
  const activity = async (): Promise<string | undefined> => {
    const { writes, watchEvents, pending } = await counts();
    return pending > 0 ? undefined : `${writes} ${watchEvents}`;
  };
  try {
    await Promise.race([untilReady(`http://127.0.0.1:${probes}/readyz`), crashed]);
  } catch (error) {
    await stop();
    throw error;
  }
  const ownWrites = async (): Promise<number> => (await counts()).writes;
  return { pid: operator.pid, crashed, activity, ownWrites, counts, stop, [Symbol.asyncDispose]: stop };
}

/** Reads the metrics by controller-runtime's names and our own. */
export function countsIn(text: string): OwnCounts {
  return {
    reconciles: sumOf(text, 'controller_runtime_reconcile_total'),
    failed: sumOf(text, 'controller_runtime_reconcile_errors_total'),
    writes: sumOf(text, 'rest_client_requests_total') - sumOf(text, 'rest_client_requests_total', { method: 'GET' }),
    watchEvents: sumOf(text, 'reprise_watch_events_total'),
    pending: sumOf(text, 'workqueue_depth') + sumOf(text, 'controller_runtime_active_workers'),
  };
}

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.text();
}

const readyMs = 60_000;

async function untilReady(url: string): Promise<void> {
  const end = performance.now() + readyMs;
  while (!(await isOk(url))) {
    if (performance.now() > end) throw new Error(`the operator is not ready after ${readyMs / 1000} s`);
    await delay(10);
  }
}

/** Before it listens there is nobody to answer: not ready, and no error. */
async function isOk(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    (answer) => answer.ok,
    () => false,
  );
}
