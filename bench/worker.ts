/** What serves the WebServers of a leg: the operator or the floor, each a process of its own. */

export interface Worker extends AsyncDisposable {
  readonly pid: number;
  /** Rejects with the reason when the process ends unasked; never resolves. */
  readonly crashed: Promise<never>;
  /** Undefined while it is busy; else a text that changes whenever it has done something. */
  activity(): Promise<string | undefined>;
  /** Writes since it started by its own count: also those that the server's count cannot tell from its own, such as Events. */
  ownWrites(): Promise<number>;
  /** Asks it to end and waits until it did. */
  stop(): Promise<void>;
}

/** Works on the resources of one namespace. */
export interface WorkerProps {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly concurrency: number;
  /** For logs and what has to be handed over. */
  readonly folder: string;
}
