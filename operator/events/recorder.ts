/** The contract of the event recorder (events.k8s.io/v1): what the reconcile loop says to the user about one object. */
import type { KubeObject } from '../../charts/resource.ts';

export interface EventInput {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, constant. */
  readonly reason: string;
  /** What was being done: `Apply`, `Prune`, `Render`. */
  readonly action: string;
  /** A sentence for people; at most 1 kB is kept. Never holds secrets. */
  readonly note: string;
  readonly related?: KubeObject;
}

/** Fire and forget: repeated events are aggregated into a series; a failing API server never fails a reconcile. */
export interface Recorder {
  event(regarding: KubeObject, input: EventInput): void;
}
