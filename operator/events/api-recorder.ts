/** The recorder: aggregates what it hears and writes it to the API, one request at a time, behind everybody's back. */
import type { KubeObject } from '../../charts/resource.ts';
import type { Clock, Random } from '../clock.ts';
import type { Client } from '../kube/client.ts';
import type { Log } from '../log/log.ts';
import { EventAggregator, type EventWrite } from './aggregator.ts';
import type { EventInput, Recorder } from './recorder.ts';
import { EventWriter } from './writer.ts';

export interface RecorderProps {
  readonly client: Pick<Client, 'create' | 'jsonPatch'>;
  /** Name of this replica, as reportingInstance. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface ApiRecorder extends Recorder {
  /** Writes what is still to be told, then takes no more. Ends early, without error, when `signal` aborts. */
  close(signal: AbortSignal): Promise<void>;
}

const sweepMs = 60_000;

/** A recorder for events.k8s.io/v1. Its timer runs only while there are series to watch over. */
export function createRecorder(props: RecorderProps): ApiRecorder {
  return new AggregatingRecorder(props);
}

class AggregatingRecorder implements ApiRecorder {
  readonly #props: RecorderProps;
  readonly #aggregator: EventAggregator;
  readonly #writer: EventWriter;
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(props: RecorderProps) {
    this.#props = props;
    this.#aggregator = new EventAggregator(props.instance);
    this.#writer = new EventWriter(props);
  }

  event(regarding: KubeObject, input: EventInput): void {
    if (this.#isClosed) return;
    const { clock, random } = this.#props;
    this.#write(this.#aggregator.occurred(regarding, input, clock.now(), random()));
    this.#cancelSweep ??= clock.after(sweepMs, () => this.#sweep());
  }

  async close(signal: AbortSignal): Promise<void> {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const write of this.#aggregator.untold(this.#props.clock.now())) this.#write(write);
    await this.#writer.close(signal);
  }

  #sweep(): void {
    const { clock } = this.#props;
    for (const write of this.#aggregator.due(clock.now())) this.#write(write);
    this.#cancelSweep = this.#aggregator.isEmpty ? undefined : clock.after(sweepMs, () => this.#sweep());
  }

  #write(write: EventWrite | undefined): void {
    if (write !== undefined) this.#writer.add(write);
  }
}
