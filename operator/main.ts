/**
 * The operator: wires the parts, runs them until it is told to stop, and sets the exit code. The only file that lists the
 * parts, and the only one of operator/ that knows the list of kinds.
 *
 * Exit codes: 0 stopped in order · 1 could not start, or crashed · 2 bad usage · 128 + n stopped at once by a second signal.
 */
import { managedByLabel, operatorName } from '../charts/labels.ts';
import { resourceNameOf, type ResourceType } from '../charts/resource.ts';
import { kinds } from '../crds/index.ts';
import type { Kind } from '../crds/kind.ts';
import type { OwnedType } from '../crds/owned.ts';
import packageJson from '../package.json' with { type: 'json' };
import { systemClock as clock } from './clock.ts';
import { helpText, readConfig, surroundings, type Config, type ConnectionConfig } from './config.ts';
import { createController, type Controller } from './controller/controller.ts';
import { createRecorder, type ApiRecorder } from './events/api-recorder.ts';
import { serveEndpoints } from './endpoints.ts';
import { Reachability } from './health/reachability.ts';
import { createClient, inClusterConnection, kubeconfigConnection, type ClosableClient } from './kube/connect.ts';
import type { Connection } from './kube/connection.ts';
import { createLog } from './log/create-log.ts';
import type { Log } from './log/log.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import type { Observer } from './metrics/observer.ts';
import { crashOnStrayErrors, graceAfter, keepAlive, stopOnSignals } from './stop.ts';
import { createCache, type WatchedCache } from './watch/cache.ts';
import { announcingWrites } from './watch/own-writes.ts';
import { trimObject } from './watch/trim.ts';

const random = Math.random;
const fieldManager = operatorName;

/** What most parts are made with. */
interface Context {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly observer: Observer;
  readonly client: ClosableClient;
  readonly recorder: ApiRecorder;
}

/** The parts that work. */
interface Parts {
  readonly caches: readonly WatchedCache[];
  readonly controllers: readonly Controller[];
}

async function main(): Promise<number> {
  const names = kinds.map(({ kind }) => kind);
  const command = readConfig(surroundings(), names);
  switch (command.do) {
    case 'print-help':
      process.stdout.write(helpText(names));
      return 0;
    case 'print-version':
      process.stdout.write(`${operatorName} ${packageJson.version}\n`);
      return 0;
    case 'refuse':
      process.stderr.write(command.problems.map((problem) => `${problem}\n`).join(''));
      return 2;
    case 'run':
      return run(command.config);
  }
}

async function run(config: Config): Promise<number> {
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    write: (line) => process.stderr.write(line),
  });
  const exit = (code: number): never => process.exit(code);
  const stop = stopOnSignals(process, log, exit);
  crashOnStrayErrors(process, log, exit);
  try {
    log.info('starting', {
      version: packageJson.version,
      instance: config.instance,
      namespaces: orAll(config.namespaces),
      kinds: orAll(config.kinds),
    });
    const context = await contextOf(config, log);
    return await operate(context, partsOf(context), stop);
  } catch (error) {
    log.error('cannot run', error);
    return 1;
  }
}

const orAll = (names: readonly string[]): readonly string[] => (names.length === 0 ? ['all'] : names);

async function contextOf(config: Config, log: Log): Promise<Context> {
  const connection = await connectionOf(config.connection);
  log.info('using API server', { server: connection.server.href, as: connection.description });
  const metrics = createMetrics(clock);
  const reachability = new Reachability({ clock, log });
  const observer: Observer = {
    ...metrics.observer,
    request: (method, host, code) => {
      reachability.heard(code !== '<error>');
      metrics.observer.request(method, host, code);
    },
  };
  // A header takes no other characters; names of pods and hosts have no others.
  const userAgent = `${operatorName}/${packageJson.version} (${config.instance.replace(/[^\w.-]/g, '-')})`;
  const client = createClient({ connection, fieldManager, userAgent, observer, log, clock, random });
  const recorder = createRecorder({ client, instance: config.instance, clock, random, log });
  return { config, log, metrics, observer, client, recorder };
}

async function connectionOf(config: ConnectionConfig): Promise<Connection> {
  if (config.from === 'in-cluster') return inClusterConnection({ host: config.host, port: config.port, clock });
  const { paths, context } = config;
  try {
    return await kubeconfigConnection({
      ...(paths !== undefined && { path: paths }),
      ...(context !== undefined && { context }),
      clock,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      'this build reads no kubeconfig: run it in a pod with a ServiceAccount, or from the repository with npm run dev',
      {
        cause: error,
      },
    );
  }
}

/** One cache for each resource type, however many kinds read it. */
function partsOf(context: Context): Parts {
  const { config } = context;
  const served = kinds.filter(({ kind }) => config.kinds.length === 0 || config.kinds.includes(kind));
  const caches = new Map<string, WatchedCache>();
  const cacheOf = (type: ResourceType, options: CacheOptions): WatchedCache => {
    const known = caches.get(resourceNameOf(type));
    if (known !== undefined) return known;
    const cache = newCache(context, type, options);
    caches.set(resourceNameOf(type), cache);
    return cache;
  };
  // Kinds first: a kind that another kind owns is watched whole, whoever made it.
  const primaries = new Map(served.map((kind) => [kind, cacheOf(kind, {})]));
  const children = new Map(served.flatMap(({ owns }) => owns).map((type) => [type, cacheOf(type, childOptions(type))]));
  const controllers = Array.from(primaries, ([kind, primary]) => newController(context, kind, { primary, children }));
  return { caches: [...caches.values()], controllers };
}

interface CacheOptions {
  readonly labelSelector?: string;
  readonly statusFields?: readonly string[];
}

const childOptions = ({ statusFields }: OwnedType): CacheOptions => ({
  labelSelector: `${managedByLabel}=${operatorName}`,
  statusFields,
});

function newCache(
  { config, client, log, metrics, observer }: Context,
  type: ResourceType,
  options: CacheOptions,
): WatchedCache {
  const { labelSelector, statusFields } = options;
  const cache = createCache({
    client,
    type,
    namespaces: config.namespaces.length === 0 ? 'all' : config.namespaces,
    ...(labelSelector !== undefined && { labelSelector }),
    trim: (object) => trimObject(object, { fieldManager, ...(statusFields !== undefined && { statusFields }) }),
    clock,
    random,
    log,
    observer,
  });
  metrics.addCache(resourceNameOf(type), () => cache.size);
  return cache;
}

interface Readers {
  readonly primary: WatchedCache;
  readonly children: ReadonlyMap<OwnedType, WatchedCache>;
}

function newController(context: Context, kind: Kind, { primary, children }: Readers): Controller {
  const { config, metrics } = context;
  const caches = new Map([primary, ...children.values()].map((cache) => [resourceNameOf(cache.type), cache]));
  const controller = createController({
    ...context,
    // Events of our own writes are no news.
    client: announcingWrites(context.client, (type) => caches.get(resourceNameOf(type))),
    kind,
    primary,
    children: new Map(Array.from(children).filter(([type]) => kind.owns.includes(type))),
    fieldManager,
    clock,
    random,
    maxConcurrentReconciles: config.maxConcurrentReconciles,
    resyncMs: config.resyncPeriodMs,
  });
  metrics.addController(controller.name, config.maxConcurrentReconciles);
  return controller;
}

/** Runs everything until `stop` aborts, then takes it down: work first, then what it told the user, then what it read. */
async function operate(context: Context, parts: Parts, stop: AbortSignal): Promise<number> {
  const { client, config, log, recorder } = context;
  const { caches, controllers } = parts;
  await using _endpoints = await serveEndpoints({ ...context, ...parts, clock, stop });
  using _alive = keepAlive();
  using grace = graceAfter(stop, config.gracefulShutdownTimeoutMs);
  const watching = new AbortController();
  const watches = Promise.all(caches.map((cache) => cache.run(watching.signal)));
  const work = Promise.all(controllers.map((controller) => controller.run(stop, grace.signal)));
  // No watch ends before it is told to: one that does has a fault, which ends the process.
  await Promise.race([work, watches, grace.over]);
  await recorder.close(grace.signal);
  watching.abort(new Error('stopped'));
  client.close();
  log.info('stopped', { inTime: !grace.signal.aborted });
  return grace.signal.aborted ? 1 : 0;
}

process.exit(await main());
