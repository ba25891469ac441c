/** What the operator serves about itself: probes and metrics, each on an address of its own. */
import type { Clock } from './clock.ts';
import { resourceNameOf } from '../charts/resource.ts';
import type { Config } from './config.ts';
import type { Controller } from './controller/controller.ts';
import { answerProbe, type Check, type Probes } from './health/checks.ts';
import { watchIsAlive } from './health/liveness.ts';
import { serve, type Answerer } from './health/serve.ts';
import type { Log } from './log/log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { WatchedCache } from './watch/cache.ts';

export interface EndpointsProps {
  readonly config: Pick<Config, 'healthProbeBindAddress' | 'metricsBindAddress'>;
  readonly caches: readonly WatchedCache[];
  readonly controllers: readonly Pick<Controller, 'name' | 'health'>[];
  readonly metrics: Pick<Metrics, 'contentType' | 'exposition'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted: the operator is on its way out, and not ready for anything. */
  readonly stop: AbortSignal;
}

/** Serves until disposed. Rejects with CannotListen when an address is taken; then nothing is served. */
export async function serveEndpoints(props: EndpointsProps): Promise<AsyncDisposable> {
  const { config, log } = props;
  await using stack = new AsyncDisposableStack();
  const start = async (
    what: string,
    flag: string,
    bind: Config['metricsBindAddress'],
    answer: Answerer,
  ): Promise<void> => {
    if (bind === undefined) return;
    const onError = (error: unknown): void => log.error(`cannot serve ${what}`, error);
    const serving = stack.use(await serve({ bind, flag, answer, onError }));
    log.info(`serving ${what}`, { address: serving.address });
  };
  const probes = probesOf(props);
  await start('probes', 'health-probe-bind-address', config.healthProbeBindAddress, (path, query) =>
    answerProbe(probes, path, query),
  );
  await start('metrics', 'metrics-bind-address', config.metricsBindAddress, metricsAnswer(props.metrics));
  return stack.move();
}

/** `/readyz` fails while the operator cannot be counted on, `/healthz` only where a restart would help. */
function probesOf({ caches, controllers, clock, stop }: EndpointsProps): Probes {
  const shutdown: Check = { name: 'shutdown', problem: () => (stop.aborted ? 'the operator is stopping' : undefined) };
  return {
    '/readyz': [...caches.map(hasSynced), shutdown],
    '/healthz': [
      { name: 'ping', problem: () => undefined },
      ...caches.map((cache) => watchIsAlive(`watch-${resourceNameOf(cache.type)}`, () => cache.health(), clock)),
      ...controllers.map(hasNoStuckWorker),
    ],
  };
}

/** Twice the pause between bookmarks: a stream that is being resumed does not count as lost. */
const staleAfterMs = 2 * 60_000;

/** A cache that was filled once and is no longer kept up to date is nothing to count on either. */
const hasSynced = (cache: WatchedCache): Check => ({
  name: `synced-${resourceNameOf(cache.type)}`,
  problem: () => {
    const { watching, lastActivityMs = Infinity, lastError } = cache.health();
    if (!cache.hasSynced) return lastError ?? 'the first list is not complete';
    if (watching || lastActivityMs <= staleAfterMs) return undefined;
    return `nothing heard for ${Math.round(lastActivityMs / 1000)} s: ${lastError ?? 'the watch does not open'}`;
  },
});

/** The keys stay in the log: names of objects are nobody's business here. */
const hasNoStuckWorker = (controller: Pick<Controller, 'name' | 'health'>): Check => ({
  name: `workers-${controller.name}`,
  problem: () => {
    const { stuck } = controller.health();
    return stuck.length === 0 ? undefined : `${stuck.length} reconciles hang`;
  },
});

/** Readable by whoever reaches the port; who may ask is decided here once metrics are protected. */
const metricsAnswer =
  ({ contentType, exposition }: EndpointsProps['metrics']): Answerer =>
  async (path) =>
    path === '/metrics'
      ? { status: 200, body: await exposition(), contentType }
      : { status: 404, body: '404 page not found\n' };
