/** Watches resources of our kinds and says how ready they are: the live table of `npm start`. */
import type { Condition, KubeObject } from '../charts/resource.ts';
import type { Kind } from '../crds/kind.ts';
import { systemClock } from '../operator/clock.ts';
import type { Client } from '../operator/kube/client.ts';
import { createLog } from '../operator/log/create-log.ts';
import { createCache } from '../operator/watch/cache.ts';
import { ageOf, tableOf } from './table.ts';

/** One resource as the table shows it. */
export interface Row {
  readonly kind: string;
  readonly name: string;
  readonly ready: boolean;
  /** Why it is not ready, or how it is: the message of its Available condition. */
  readonly message: string;
  readonly created: number;
}

interface Conditioned {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** Judges by the standard condition Available, and only if it speaks of the current generation. */
export function rowOf(object: KubeObject): Row {
  const { status = {} } = object as Conditioned;
  const conditionOf = (type: string) => status.conditions?.find((condition) => condition.type === type);
  const available = conditionOf('Available');
  const degraded = conditionOf('Degraded');
  const isCurrent = status.observedGeneration === object.metadata.generation;
  const isDegraded = degraded?.status === 'True';
  return {
    kind: object.kind,
    name: object.metadata.name,
    ready: isCurrent && available?.status === 'True' && !isDegraded,
    message: (isDegraded ? degraded : available)?.message ?? 'not seen by the operator yet',
    created: Date.parse(object.metadata.creationTimestamp ?? '') || 0,
  };
}

export function rowsAsTable(rows: readonly Row[], now: number): string[] {
  return tableOf(
    ['KIND', 'NAME', 'READY', 'AGE', 'MESSAGE'],
    rows.map((row) => [row.kind, row.name, row.ready ? 'True' : 'False', ageOf(now - row.created), row.message]),
  );
}

export interface Live {
  /** Sorted by kind and name. */
  rows(): readonly Row[];
  /** Resolves at the next change of any row. */
  changed(signal: AbortSignal): Promise<void>;
}

/** Keeps watching until `signal` aborts. */
export function watchKinds(
  client: Pick<Client, 'list' | 'watch'>,
  kinds: readonly Kind[],
  namespace: string,
  signal: AbortSignal,
): Live {
  const nobody = { watchEvent: () => undefined, watchRestarted: () => undefined };
  const log = createLog({ level: 'error', format: 'text', write: (line: string) => void process.stderr.write(line) });
  const common = { client, clock: systemClock, random: Math.random, log, observer: nobody, trim: (o: KubeObject) => o };
  const caches = kinds.map((type) => createCache({ ...common, type, namespaces: [namespace] }));
  let news = Promise.withResolvers<undefined>();
  for (const cache of caches) {
    cache.subscribe(() => {
      news.resolve(undefined);
      news = Promise.withResolvers();
    });
    void cache.run(signal);
  }
  const order = (row: Row): string => `${row.kind}/${row.name}`;
  return {
    rows: () => caches.flatMap((cache) => [...cache.list()].map(rowOf)).sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    changed: async (until) => {
      const aborted = Promise.withResolvers<undefined>();
      const abort = (): void => aborted.resolve(undefined);
      until.addEventListener('abort', abort, { once: true });
      if (!until.aborted) await Promise.race([news.promise, aborted.promise]);
      until.removeEventListener('abort', abort);
    },
  };
}
