/** Runs one key: with a time limit, an id and its causes in the log, and a verdict on what comes next. */
import type { Clock, Random } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type { Item, Next } from '../queue/entry.ts';
import { ReconcileTimeout, verdictOfError, verdictOfOutcome, type Outcome, type Verdict } from './outcome.ts';

/** What the loop body is given beside the key. */
export interface Run {
  readonly log: Log;
  readonly failures: number;
}

export interface RunnerProps {
  /** Of the controller. */
  readonly name: string;
  readonly reconcile: (key: string, run: Run, signal: AbortSignal) => Promise<Outcome>;
  readonly timeoutMs: number;
  readonly observer: Pick<Observer, 'reconciled' | 'reconcileFailed' | 'activeWorkers'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
}

export class Runner {
  readonly #props: RunnerProps;
  /** Of the runs in flight. */
  readonly #aborts = new Set<AbortController>();
  #isCut = false;

  constructor(props: RunnerProps) {
    this.#props = props;
  }

  /** Ends every run in flight, and those that would begin. */
  cut(reason: unknown): void {
    this.#isCut = true;
    for (const abort of this.#aborts) abort.abort(reason);
  }

  /** Never rejects. */
  async run(item: Item): Promise<Next> {
    const { clock, observer, name } = this.#props;
    const start = clock.now();
    const log = this.#logOf(item);
    const abort = new AbortController();
    this.#aborts.add(abort);
    observer.activeWorkers(name, this.#aborts.size);
    const verdict = await this.#attempt(item, log, abort);
    this.#aborts.delete(abort);
    observer.activeWorkers(name, this.#aborts.size);
    observer.reconciled(name, verdict.result, (clock.now() - start) / 1000);
    return verdict.next;
  }

  async #attempt(item: Item, log: Log, abort: AbortController): Promise<Verdict> {
    const { reconcile, timeoutMs, clock } = this.#props;
    let timeout: ReconcileTimeout | undefined;
    const cancel = clock.after(timeoutMs, () => {
      timeout = new ReconcileTimeout(`the reconcile was cut off after ${timeoutMs / 1000} s`);
      abort.abort(timeout);
    });
    try {
      if (this.#isCut) abort.abort();
      abort.signal.throwIfAborted();
      return verdictOfOutcome(await reconcile(item.key, { log, failures: item.failures }, abort.signal));
    } catch (error) {
      return this.#judge(timeout ?? error, item, log);
    } finally {
      cancel();
    }
  }

  #judge(error: unknown, item: Item, log: Log): Verdict {
    const verdict = verdictOfError(error, this.#isCut);
    if (verdict.result === 'error') {
      this.#props.observer.reconcileFailed(this.#props.name, verdict.isTerminal === true);
    }
    const fields = { attempt: item.failures + 1, outcome: verdict.next.then };
    if (verdict.tell === 'error') log.error('the reconcile failed', error, fields);
    else if (verdict.tell === 'warn') log.warn('the server asks to wait', fields);
    else log.debug('the reconcile ended early', { ...fields, reason: reasonTextOf(error) });
    return verdict;
  }

  #logOf({ key, causes }: Item): Log {
    const slash = key.indexOf('/');
    return this.#props.log.with({
      namespace: key.slice(0, slash),
      name: key.slice(slash + 1),
      reconcileId: Math.floor(this.#props.random() * 2 ** 40).toString(36),
      causes,
    });
  }
}

const reasonTextOf = (error: unknown): string => (error instanceof Error ? error.message : typeof error);
