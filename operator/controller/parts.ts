/** What the loop body works with: everything that touches the world is passed in. */
import type { KubeObject } from '../../charts/resource.ts';
import type { Kind, Resource } from '../../crds/kind.ts';
import type { OwnedType } from '../../crds/owned.ts';
import type { Clock, Random } from '../clock.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Client, ObjectRef } from '../kube/client.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type { Cache } from '../watch/reader.ts';
import type { Memory, Notes, Problem } from './memory.ts';
import type { ChildCaches } from './observed.ts';
import type { Renderer } from './renderer.ts';

export interface Parts {
  readonly kind: Kind;
  /** Of the controller, for the observer. */
  readonly name: string;
  readonly primary: Cache;
  readonly children: ChildCaches;
  readonly client: Client;
  readonly fieldManager: string;
  readonly recorder: Recorder;
  readonly observer: Pick<Observer, 'written'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly renderer: Renderer;
  readonly memory: Memory;
  /** Of this run. */
  readonly log: Log;
  /** Runs before this one that failed in a row. */
  readonly failures: number;
}

/** One pass over one resource. */
export interface Pass extends Parts {
  readonly resource: Resource;
  readonly notes: Notes;
  readonly signal: AbortSignal;
  readonly work: Work;
}

/** What a pass has done so far, and what went wrong. */
export interface Work {
  readonly created: string[];
  readonly applied: string[];
  readonly pruned: string[];
  /** What takes a person. */
  readonly problems: Problem[];
  /** The first failure that may pass by itself, and where. */
  failure: { readonly at: string; readonly error: unknown } | undefined;
  /** Nothing will be better before the resource changes. */
  isTerminal: boolean;
  /** When a blocked child may be tried again. */
  retryAt: number | undefined;
}

export const newWork = (): Work => ({
  created: [],
  applied: [],
  pruned: [],
  problems: [],
  failure: undefined,
  isTerminal: false,
  retryAt: undefined,
});

export const refOf = (type: OwnedType, object: KubeObject): ObjectRef =>
  type.scope === 'Cluster' || object.metadata.namespace === undefined
    ? { name: object.metadata.name }
    : { name: object.metadata.name, namespace: object.metadata.namespace };
