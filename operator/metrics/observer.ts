/** What the queue, the controllers and the client report about themselves; operator/metrics turns it into Prometheus metrics. */
export interface Observer {
  /** A key was added to the queue of that controller (also when it was there already). */
  queueAdded(controller: string): void;
  queueDepth(controller: string, depth: number): void;
  /** A key left the queue after waiting so long. */
  queueWaited(controller: string, seconds: number): void;
  /** A key was worked on so long. */
  queueWorked(controller: string, seconds: number): void;
  queueRetried(controller: string): void;
  /** controller-runtime's result labels. */
  reconciled(controller: string, result: 'success' | 'error' | 'requeue' | 'requeue_after', seconds: number): void;
  reconcileFailed(controller: string, terminal: boolean): void;
  activeWorkers(controller: string, workers: number): void;
  /** `code` is the HTTP status, or `<error>` when there was no answer. */
  request(method: string, host: string, code: string): void;
  /** A write of that verb to a child or a status. */
  written(controller: string, verb: 'create' | 'apply' | 'delete' | 'status'): void;
  watchEvent(resource: string, type: string): void;
  watchRestarted(resource: string, reason: string): void;
}
