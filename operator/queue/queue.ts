/**
 * The work queue of one controller. Keys only: the object is read when work starts, so that it may be old news but never
 * lost. One key never runs twice at once; being added during its run means one more run after it. Every operation is
 * O(log n). Time comes from the clock alone.
 */
import type { Clock, Random } from '../clock.ts';
import type { Observer } from '../metrics/observer.ts';
import { defaultPace, delayMs } from './backoff.ts';
import { Bucket, defaultBucket, type BucketProps } from './bucket.ts';
import { handicapMs, merge, newEntry, type Entry, type Item, type Next, type Plan, type Wish } from './entry.ts';
import { Heap } from './heap.ts';

export interface QueueProps {
  /** Of the controller, for the observer. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: Pick<Observer, 'queueAdded' | 'queueDepth' | 'queueWaited' | 'queueWorked' | 'queueRetried'>;
  /** @default 10 retries a second, 100 at once */
  readonly bucket?: BucketProps;
}

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1;

export class Queue {
  readonly #props: QueueProps;
  readonly #bucket: Bucket;
  readonly #entries = new Map<string, Entry>();
  readonly #delayed = new Heap<Entry>((a, b) => a.plan.at < b.plan.at);
  readonly #throttled = new Set<Entry>();
  readonly #waiting = new Heap<Entry>((a, b) => a.score < b.score || (a.score === b.score && a.sequence < b.sequence));
  readonly #running = new Set<Entry>();
  readonly #takers: ((item: Item | undefined) => void)[] = [];
  #sequence = 0;
  #isShutDown = false;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(props: QueueProps) {
    this.#props = props;
    this.#bucket = new Bucket(props.bucket ?? defaultBucket, props.clock.now());
  }

  /** Keys that a worker could take now. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size + this.#throttled.size;
  }

  /** What is worked on, and for how long. */
  get running(): readonly { readonly key: string; readonly forMs: number }[] {
    const now = this.#props.clock.now();
    return Array.from(this.#running, ({ key, since }) => ({ key, forMs: now - since }));
  }

  /** Asks for a run. Several wishes before a run become one: the earlier time, the higher level, all causes. */
  add(key: string, wish: Wish): void {
    if (this.#isShutDown) return;
    this.#props.observer.queueAdded(this.#props.name);
    const entry = this.#entries.get(key) ?? this.#enter(key);
    const at = Math.max(this.#props.clock.now() + (wish.delayMs ?? 0), entry.notBefore);
    const plan = { level: wish.level, at, isRetry: false };
    if (wish.level === 'resync' && entry.state !== 'running' && entry.plan.isRetry) return;
    entry.causes.add(wish.cause);
    if (entry.state === 'running') entry.again = entry.again === undefined ? plan : merge(entry.again, plan);
    else if (entry.state === 'throttled') this.#release(entry, plan);
    else this.#place(entry, merge(entry.plan, plan));
  }

  /** The next key, as soon as there is one; undefined once the queue is shut down. Answer with `done`. */
  take(): Promise<Item | undefined> {
    const entry = this.#isShutDown ? undefined : this.#waiting.takeFirst();
    if (entry !== undefined) return Promise.resolve(this.#start(entry));
    if (this.#isShutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Ends the run of a key that was taken. */
  done(key: string, next: Next): void {
    const entry = this.#entries.get(key);
    if (entry?.state !== 'running') throw new Error(`${key} is not being worked on: done() answers one take()`);
    const { observer, name, clock } = this.#props;
    observer.queueWorked(name, (clock.now() - entry.since) / 1000);
    this.#running.delete(entry);
    if (entry.holdsToken && next.then !== 'retry') this.#bucket.giveBack();
    entry.holdsToken = false;
    const plan = this.#isShutDown ? undefined : this.#planAfter(entry, next);
    entry.again = undefined;
    if (plan === undefined) this.#entries.delete(key);
    else this.#place(entry, plan);
    this.#wake();
  }

  /** Nothing is taken any more; what runs may still be `done`. What waits is dropped: the next process lists anew. */
  shutDown(): void {
    this.#isShutDown = true;
    this.#timer?.cancel();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
  }

  #enter(key: string): Entry {
    const entry = newEntry(key);
    this.#entries.set(key, entry);
    return entry;
  }

  #planAfter(entry: Entry, next: Next): Plan | undefined {
    const own = this.#ownPlan(entry, next);
    const { again } = entry;
    if (again === undefined) return own;
    const wish = { ...again, at: Math.max(again.at, entry.notBefore) };
    return own === undefined ? wish : merge(own, wish);
  }

  #ownPlan(entry: Entry, next: Next): Plan | undefined {
    const now = this.#props.clock.now();
    const { level } = entry.plan;
    entry.failures = next.then === 'retry' ? entry.failures + 1 : 0;
    entry.notBefore = next.then === 'retry' && next.atLeastMs !== undefined ? now + next.atLeastMs : 0;
    if (next.then === 'forget') return undefined;
    this.#props.observer.queueRetried(this.#props.name);
    entry.causes.add(next.then === 'after' ? 'scheduled' : 'retry');
    if (next.then === 'after') return { level: 'initial', at: now + next.delayMs, isRetry: false };
    const backoff = delayMs(next.pace ?? defaultPace, entry.failures, this.#props.random);
    return { level, at: Math.max(now + backoff, entry.notBefore), isRetry: true };
  }

  /** What is asked for now needs no token; what is asked for later comes when the retry does. */
  #release(entry: Entry, plan: Plan): void {
    if (plan.at <= this.#props.clock.now()) this.#place(entry, plan);
  }

  /** Puts an entry where its plan wants it. */
  #place(entry: Entry, plan: Plan): void {
    const now = this.#props.clock.now();
    if (entry.state === 'waiting') this.#improve(entry, plan, now);
    else {
      this.#delayed.remove(entry);
      this.#throttled.delete(entry);
      entry.plan = plan;
      if (plan.at > now) this.#delay(entry);
      else if (plan.isRetry) this.#throttle(entry);
      else this.#wait(entry, now);
    }
    this.#wake();
  }

  /** A key that waits keeps its turn when it is added again; a higher level may give it an earlier one. */
  #improve(entry: Entry, plan: Plan, now: number): void {
    const score = now + handicapMs[plan.level];
    if (score >= entry.score) return;
    this.#waiting.remove(entry);
    entry.plan = plan;
    entry.score = score;
    this.#waiting.add(entry);
  }

  #delay(entry: Entry): void {
    entry.state = 'delayed';
    this.#delayed.add(entry);
  }

  #throttle(entry: Entry): void {
    entry.state = 'throttled';
    this.#throttled.add(entry);
  }

  #wait(entry: Entry, now: number): void {
    entry.state = 'waiting';
    entry.since = now;
    entry.score = now + handicapMs[entry.plan.level];
    entry.sequence = this.#sequence++;
    this.#waiting.add(entry);
    this.#props.observer.queueDepth(this.#props.name, this.#waiting.size);
  }

  /** Moves on what is due, hands out what waits, sets the timer for the rest. */
  #wake(): void {
    if (this.#isShutDown) return;
    const now = this.#props.clock.now();
    while ((this.#delayed.first?.plan.at ?? Infinity) <= now) this.#fallDue(now);
    for (const entry of this.#throttled) {
      if (!this.#bucket.take(now)) break;
      this.#throttled.delete(entry);
      entry.holdsToken = true;
      this.#wait(entry, now);
    }
    while (this.#takers.length > 0 && this.#waiting.size > 0) this.#handOut();
    this.#setTimer(now);
  }

  #fallDue(now: number): void {
    const entry = this.#delayed.takeFirst();
    if (entry === undefined) return;
    if (entry.plan.isRetry) this.#throttle(entry);
    else this.#wait(entry, now);
  }

  #handOut(): void {
    const entry = this.#waiting.takeFirst();
    const resolve = this.#takers.shift();
    if (entry !== undefined) resolve?.(this.#start(entry));
  }

  #start(entry: Entry): Item {
    const { observer, name, clock } = this.#props;
    const now = clock.now();
    observer.queueWaited(name, (now - entry.since) / 1000);
    observer.queueDepth(name, this.#waiting.size);
    entry.state = 'running';
    entry.since = now;
    this.#running.add(entry);
    const causes = [...entry.causes];
    entry.causes = new Set();
    return { key: entry.key, causes, failures: entry.failures };
  }

  #setTimer(now: number): void {
    const due = this.#delayed.first?.plan.at ?? Infinity;
    const token = this.#throttled.size > 0 ? now + this.#bucket.waitMs(now) : Infinity;
    const at = Math.min(due, token);
    if (this.#timer?.at === at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === Infinity) return;
    const cancel = this.#props.clock.after(Math.min(at - now, longestTimerMs), () => {
      this.#timer = undefined;
      this.#wake();
    });
    this.#timer = { at, cancel };
  }
}
