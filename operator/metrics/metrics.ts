/**
 * What the operator's parts report, as Prometheus metrics. Names, labels and buckets are those of controller-runtime 0.24,
 * so that its dashboards and alerts work; what it has no name for is called `reprise_…`. Labels are kinds, verbs and
 * outcomes, never names of users' objects.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Observer } from './observer.ts';
import { WorkInProgress } from './work-in-progress.ts';

export interface Metrics {
  readonly observer: Observer;
  readonly work: WorkInProgress;
  /** Makes every series of that controller exist, at zero: a rate over a series that appears late misses its first step. */
  addController(controller: string, maxConcurrentReconciles: number): void;
  /** `size` is asked at each scrape. */
  addCache(resource: string, size: () => number): void;
  readonly contentType: string;
  /** The text of /metrics. */
  exposition(): Promise<string>;
}

/** `1e-8, 1e-7, … 1000`: prometheus.ExponentialBuckets(10e-9, 10, 12) of client-go's workqueue. */
const workqueueBuckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const results = ['error', 'requeue_after', 'requeue', 'success'] as const;
const verbs = ['create', 'apply', 'delete', 'status'] as const;

/** A registry of its own, so that two operators in one process (tests) do not share numbers. */
export function createMetrics(clock: Clock): Metrics {
  const registry = new Registry();
  // Samples of the event loop's delay wake the process: at prom-client's 10 ms they cost three times as much at rest.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  const work = new WorkInProgress(clock);
  const reconcile = reconcileMetrics(registry);
  const queue = queueMetrics(registry, work);
  const io = ioMetrics(registry);
  const sizes = new Map<string, () => number>();
  cacheMetric(registry, sizes);
  return {
    work,
    observer: observerOf(reconcile, queue, io, work),
    addController: (controller, maxConcurrentReconciles) => {
      work.add(controller);
      startAtZero({ ...reconcile, ...queue, ...io }, controller);
      reconcile.workers.set({ controller }, maxConcurrentReconciles);
    },
    addCache: (resource, size) => void sizes.set(resource, size),
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
  };
}

type ReconcileMetrics = ReturnType<typeof reconcileMetrics>;
type QueueMetrics = ReturnType<typeof queueMetrics>;
type IoMetrics = ReturnType<typeof ioMetrics>;

function reconcileMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ['controller'] as const;
  return {
    reconciles: new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Total number of reconciliations per controller',
      labelNames: ['controller', 'result'],
      registers,
    }),
    errors: new Counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Total number of reconciliation errors per controller',
      labelNames,
      registers,
    }),
    terminalErrors: new Counter({
      name: 'controller_runtime_terminal_reconcile_errors_total',
      help: 'Total number of terminal reconciliation errors per controller',
      labelNames,
      registers,
    }),
    seconds: new Histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Length of time per reconciliation per controller',
      labelNames,
      buckets: reconcileBuckets,
      registers,
    }),
    workers: new Gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Maximum number of concurrent reconciles per controller',
      labelNames,
      registers,
    }),
    activeWorkers: new Gauge({
      name: 'controller_runtime_active_workers',
      help: 'Number of currently used workers per controller',
      labelNames,
      registers,
    }),
  };
}

/** controller-runtime gives each queue the controller's name twice; `priority` is '' for a queue that reports its whole depth. */
const queueLabels = (controller: string) => ({ name: controller, controller });

function queueMetrics(registry: Registry, work: WorkInProgress) {
  const registers = [registry];
  const labelNames = ['name', 'controller'] as const;
  const unfinished = {
    name: 'workqueue_unfinished_work_seconds',
    help: 'Seconds of work in progress, added up over all workers',
  };
  const longest = {
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How long the longest running worker has been at it',
  };
  const aged = (what: typeof longest, seconds: (controller: string) => number) =>
    new Gauge({
      ...what,
      labelNames,
      registers,
      collect() {
        for (const controller of work.controllers) this.set(queueLabels(controller), seconds(controller));
      },
    });
  return {
    unfinished: aged(unfinished, (controller) => work.unfinishedSeconds(controller)),
    longest: aged(longest, (controller) => work.longestSeconds(controller)),
    depth: new Gauge({
      name: 'workqueue_depth',
      help: 'Current depth of workqueue by workqueue and priority',
      labelNames: ['name', 'controller', 'priority'],
      registers,
    }),
    adds: new Counter({
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
      labelNames,
      registers,
    }),
    waited: new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long in seconds an item stays in workqueue before being requested',
      labelNames,
      buckets: workqueueBuckets,
      registers,
    }),
    worked: new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes.',
      labelNames,
      buckets: workqueueBuckets,
      registers,
    }),
    retries: new Counter({
      name: 'workqueue_retries_total',
      help: 'Total number of items added to the workqueue with a non-zero delay',
      labelNames,
      registers,
    }),
  };
}

function ioMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'rest_client_requests_total',
      help: 'Number of HTTP requests, partitioned by status code, method, and host.',
      labelNames: ['code', 'method', 'host'],
      registers,
    }),
    writes: new Counter({
      name: 'reprise_writes_total',
      help: 'Number of writes to children and status, by verb',
      labelNames: ['controller', 'verb'],
      registers,
    }),
    watchEvents: new Counter({
      name: 'reprise_watch_events_total',
      help: 'Number of events received on watches, by resource and type',
      labelNames: ['resource', 'type'],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'reprise_watch_restarts_total',
      help: 'Number of times a watch had to be opened again, by resource and reason',
      labelNames: ['resource', 'reason'],
      registers,
    }),
  };
}

function cacheMetric(registry: Registry, sizes: ReadonlyMap<string, () => number>): void {
  new Gauge({
    name: 'reprise_cache_objects',
    help: 'Number of objects in the cache, by resource',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      for (const [resource, size] of sizes) this.set({ resource }, size());
    },
  });
}

function startAtZero(all: ReconcileMetrics & QueueMetrics & IoMetrics, controller: string): void {
  for (const result of results) all.reconciles.inc({ controller, result }, 0);
  for (const verb of verbs) all.writes.inc({ controller, verb }, 0);
  all.errors.inc({ controller }, 0);
  all.terminalErrors.inc({ controller }, 0);
  all.activeWorkers.set({ controller }, 0);
  all.depth.set({ ...queueLabels(controller), priority: '' }, 0);
  all.adds.inc(queueLabels(controller), 0);
  all.retries.inc(queueLabels(controller), 0);
  all.seconds.zero({ controller });
  all.waited.zero(queueLabels(controller));
  all.worked.zero(queueLabels(controller));
}

function observerOf(reconcile: ReconcileMetrics, queue: QueueMetrics, io: IoMetrics, work: WorkInProgress): Observer {
  return {
    queueAdded: (controller) => queue.adds.inc(queueLabels(controller)),
    queueDepth: (controller, depth) => queue.depth.set({ ...queueLabels(controller), priority: '' }, depth),
    queueWaited: (controller, seconds) => {
      work.started(controller);
      queue.waited.observe(queueLabels(controller), seconds);
    },
    queueWorked: (controller, seconds) => {
      work.finished(controller, seconds);
      queue.worked.observe(queueLabels(controller), seconds);
    },
    queueRetried: (controller) => queue.retries.inc(queueLabels(controller)),
    reconciled: (controller, result, seconds) => {
      reconcile.reconciles.inc({ controller, result });
      reconcile.seconds.observe({ controller }, seconds);
    },
    reconcileFailed: (controller, terminal) => {
      reconcile.errors.inc({ controller });
      if (terminal) reconcile.terminalErrors.inc({ controller });
    },
    activeWorkers: (controller, workers) => reconcile.activeWorkers.set({ controller }, workers),
    request: (method, host, code) => io.requests.inc({ code, method, host }),
    written: (controller, verb) => io.writes.inc({ controller, verb }),
    watchEvent: (resource, type) => io.watchEvents.inc({ resource, type }),
    watchRestarted: (resource, reason) => io.watchRestarts.inc({ resource, reason }),
  };
}
