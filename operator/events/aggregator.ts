/**
 * Decides what an occurrence means for the API: a new Event, a count, or nothing yet. As client-go's recorder for
 * events.k8s.io does it: the first occurrence is an Event, the second makes it a series, later ones are counted here and
 * told every few minutes, and a series ends when it was not seen for a while. Pure but for its memory, which is bounded.
 */
import type { KubeObject } from '../../charts/resource.ts';
import { BoundedMap } from './bounded-map.ts';
import { EventBudget } from './budget.ts';
import { eventObject, microTime, reportingController, type EventSeries } from './event-object.ts';
import type { EventInput } from './recorder.ts';

/** A request to make. Created events have no series; a series update has one. */
export interface EventWrite {
  readonly event: KubeObject;
  readonly series?: EventSeries;
}

interface Entry {
  readonly event: KubeObject;
  count: number;
  lastSeen: number;
  /** What the API was last told, and when. */
  toldCount: number;
  toldAt: number;
}

/** Occurrences further apart than this are separate Events. */
const windowMs = 6 * 60_000;
const refreshMs = 5 * 60_000;
const maxEntries = 4096;

export class EventAggregator {
  readonly #instance: string;
  readonly #entries = new BoundedMap<string, Entry>(maxEntries);
  readonly #budget = new EventBudget();

  constructor(instance: string) {
    this.#instance = instance;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** What to write now for this occurrence; undefined when it was counted, or when the object has used up its budget. */
  occurred(regarding: KubeObject, input: EventInput, now: number, random: number): EventWrite | undefined {
    const key = keyOf(regarding, input);
    const entry = this.#entries.get(key);
    if (entry !== undefined && now - entry.lastSeen <= windowMs) return repeated(entry, now);
    if (!this.#budget.take(regarding.metadata.uid ?? '', now)) return undefined;
    const event = eventObject({ regarding, input, instance: this.#instance, time: now, random });
    this.#entries.set(key, { event, count: 1, lastSeen: now, toldCount: 1, toldAt: now });
    return { event };
  }

  /** Series whose count is due to be told, forgetting those that ended. Call it now and then. */
  due(now: number): readonly EventWrite[] {
    return this.#entries.entries().flatMap(([key, entry]) => {
      const hasEnded = now - entry.lastSeen > windowMs;
      if (hasEnded) this.#entries.delete(key);
      return hasEnded || now - entry.toldAt >= refreshMs ? tell(entry, now) : [];
    });
  }

  /** All that was counted and not told, for the end of the process. */
  untold(now: number): readonly EventWrite[] {
    return this.#entries.entries().flatMap(([, entry]) => tell(entry, now));
  }
}

/** The second occurrence is told at once, so that a reader sees that it goes on. */
function repeated(entry: Entry, now: number): EventWrite | undefined {
  entry.count += 1;
  entry.lastSeen = now;
  return entry.count === 2 ? tell(entry, now)[0] : undefined;
}

function tell(entry: Entry, now: number): readonly EventWrite[] {
  if (entry.count === entry.toldCount) return [];
  entry.toldCount = entry.count;
  entry.toldAt = now;
  return [{ event: entry.event, series: { count: entry.count, lastObservedTime: microTime(entry.lastSeen) } }];
}

const keyOf = (regarding: KubeObject, input: EventInput): string =>
  JSON.stringify([
    regarding.metadata.uid ?? `${regarding.metadata.namespace ?? ''}/${regarding.metadata.name}`,
    reportingController(regarding),
    input.type,
    input.reason,
    input.action,
    input.note,
    input.related?.metadata.uid,
  ]);
