/**
 * Jest's global set-up of the cluster tests: one cluster for the whole run. Tests read REPRISE_TEST_KUBECONFIG (its
 * kubeconfig) and REPRISE_TEST_AUDIT_LOG (one JSON line for each request), and make a namespace of their own.
 */
import { removeCluster } from './cluster-folder.ts';
import { startCluster } from './cluster.ts';
import type { LocalCluster } from './cluster.ts';
import { clusterPrograms, findPrograms } from './programs.ts';
import { progressOn } from './progress.ts';

declare global {
  var repriseTestCluster: LocalCluster | undefined;
}

/** Starts the cluster; removes it when that fails half-way, and when the run ends without its tear-down. */
export default async function setUp(): Promise<void> {
  const abort = new AbortController();
  const remove = (): void => {
    if (globalThis.repriseTestCluster !== undefined) removeCluster(globalThis.repriseTestCluster.name);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      abort.abort(new Error(`Interrupted by ${signal}`));
      // While it starts, startCluster removes it and throws.
      if (globalThis.repriseTestCluster === undefined) return;
      remove();
      process.kill(process.pid, signal);
    });
  }
  process.once('exit', remove);
  const progress = progressOn();
  // All at once: where they must be built, one run of Go is faster than two.
  const programs = await findPrograms([...clusterPrograms, 'pulumi'], { progress, signal: abort.signal });
  const cluster = await startCluster({ programs, audit: true, progress, signal: abort.signal });
  globalThis.repriseTestCluster = cluster;
  process.env['REPRISE_TEST_KUBECONFIG'] = cluster.kubeconfig;
  process.env['REPRISE_TEST_AUDIT_LOG'] = cluster.auditLog;
}
