/** One controller for one kind: its caches fill a queue of keys, workers reconcile them. The façade of this folder. */
import type { Kind } from '../../crds/kind.ts';
import type { OwnedType } from '../../crds/owned.ts';
import type { Clock, Random } from '../clock.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Client } from '../kube/client.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type { Cache } from '../watch/reader.ts';

export interface ControllerProps {
  readonly kind: Kind;
  /** Of the kind itself. Status is kept whole; it may run (be filled) before the controller does, as on a standby. */
  readonly primary: Cache;
  /** One for each type in `kind.owns`, watched by the managed-by label. Shared with other controllers. */
  readonly children: ReadonlyMap<OwnedType, Cache>;
  readonly client: Client;
  /** The name under which `client` writes, as it stands in managedFields. */
  readonly fieldManager: string;
  readonly recorder: Recorder;
  readonly observer: Observer;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** @default 10 */
  readonly maxConcurrentReconciles?: number;
  /** How often every resource is looked at again, from the cache. @default 30 s */
  readonly resyncMs?: number;
  /** After so long a reconcile is cut off and tried again later. @default 30 s */
  readonly reconcileTimeoutMs?: number;
}

export interface ControllerHealth {
  /** All caches are filled, so that workers may start. */
  readonly hasSynced: boolean;
  /** Keys that wait for a worker now. */
  readonly waiting: number;
  /** Keys that are worked on now. */
  readonly running: number;
  /** `namespace/name` of what is still worked on well after its timeout: the worker hangs. Not for probes that anybody reads. */
  readonly stuck: readonly string[];
}

export interface Controller {
  /** As in metrics and logs: the kind's name in lower case. */
  readonly name: string;
  /**
   * Waits for the caches, then works until `stop` aborts; resolves when the work in flight is finished. Never rejects for
   * what a resource or the API server does. `cut` also ends the work in flight: for a lost lease, or when patience ends.
   */
  run(stop: AbortSignal, cut?: AbortSignal): Promise<void>;
  /** Asks for a reconcile of that resource, at the priority of a live change. `cause` is a constant phrase. */
  enqueue(namespace: string, name: string, cause: string): void;
  health(): ControllerHealth;
}
