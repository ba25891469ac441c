import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../test/fake-clock.ts';
import type { Item, Level } from './entry.ts';
import { Queue, type QueueProps } from './queue.ts';

/** Says what it heard, one line a call. */
class Heard {
  readonly lines: string[] = [];
  queueAdded = (name: string): void => void this.lines.push(`added ${name}`);
  queueDepth = (_name: string, depth: number): void => void this.lines.push(`depth ${depth}`);
  queueWaited = (_name: string, seconds: number): void => void this.lines.push(`waited ${seconds}`);
  queueWorked = (_name: string, seconds: number): void => void this.lines.push(`worked ${seconds}`);
  queueRetried = (name: string): void => void this.lines.push(`retried ${name}`);
}

function setUp(props: Partial<QueueProps> = {}) {
  const clock = new FakeClock(0);
  const heard = new Heard();
  // With this draw the jitter takes nothing away: delays are the ceilings.
  const queue = new Queue({ name: 'test', clock, random: () => 0, observer: heard, ...props });
  const live = (key: string, delayMs = 0) => queue.add(key, { level: 'live', cause: 'changed', delayMs });
  const at = (key: string, level: Level) => queue.add(key, { level, cause: level });
  /** All that can be taken now, finished at once. */
  const drain = async (): Promise<string[]> => {
    const keys: string[] = [];
    while (queue.depth > 0) {
      const item = await queue.take();
      if (item === undefined) break;
      keys.push(item.key);
      queue.done(item.key, { then: 'forget' });
    }
    return keys;
  };
  return { clock, heard, queue, live, at, drain };
}

/** A taker and what it has got so far. */
function taker(queue: Queue): { item: Item | undefined; isSettled: boolean } {
  const got = { item: undefined as Item | undefined, isSettled: false };
  void queue.take().then((item) => Object.assign(got, { item, isSettled: true }));
  return got;
}

const microtasks = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

describe('waiting keys', () => {
  test('a key that is added many times is run once, with all causes', async () => {
    const { queue } = setUp();
    queue.add('a', { level: 'live', cause: 'spec changed' });
    queue.add('a', { level: 'live', cause: 'Deployment changed' });
    queue.add('a', { level: 'resync', cause: 'resync' });
    queue.add('a', { level: 'live', cause: 'spec changed' });
    expect(await queue.take()).toEqual({
      key: 'a',
      causes: ['spec changed', 'Deployment changed', 'resync'],
      failures: 0,
    });
    expect(queue.depth).toBe(0);
  });

  test('keys of one level come in the order in which they were added', async () => {
    const { live, drain } = setUp();
    for (const key of ['c', 'a', 'b', 'a']) live(key);
    expect(await drain()).toEqual(['c', 'a', 'b']);
  });

  test('a key that is added again keeps its place', async () => {
    const { live, clock, drain } = setUp();
    live('a');
    clock.advance(10);
    live('b');
    clock.advance(10);
    live('a');
    expect(await drain()).toEqual(['a', 'b']);
  });

  test('a live change goes before the first list, and that before a resync', async () => {
    const { at, drain } = setUp();
    at('resync', 'resync');
    at('initial', 'initial');
    at('live', 'live');
    expect(await drain()).toEqual(['live', 'initial', 'resync']);
  });

  test('a key that waits for a resync goes first once a user changes it', async () => {
    const { at, drain } = setUp();
    for (const key of ['a', 'b', 'c']) at(key, 'resync');
    at('c', 'live');
    expect(await drain()).toEqual(['c', 'a', 'b']);
  });

  test('a key that waits for a user change does not lose its place to a resync of itself', async () => {
    const { at, drain } = setUp();
    at('a', 'live');
    at('b', 'live');
    at('a', 'resync');
    expect(await drain()).toEqual(['a', 'b']);
  });

  test('a resync that waits for 30 s is overtaken by nothing that comes later', async () => {
    const { at, clock, drain } = setUp();
    at('old resync', 'resync');
    clock.advance(29_999);
    at('live before', 'live');
    clock.advance(2);
    at('live after', 'live');
    expect(await drain()).toEqual(['live before', 'old resync', 'live after']);
  });

  test('a taker gets a key as soon as there is one', async () => {
    const { queue, live } = setUp();
    const got = taker(queue);
    await microtasks();
    expect(got.isSettled).toBe(false);
    live('a');
    await microtasks();
    expect(got.item?.key).toBe('a');
  });

  test('takers are served in the order in which they came', async () => {
    const { queue, live } = setUp();
    const [first, second] = [taker(queue), taker(queue)];
    live('a');
    live('b');
    await microtasks();
    expect([first.item?.key, second.item?.key]).toEqual(['a', 'b']);
  });
});

describe('running keys', () => {
  test('a key that runs is not handed out again; an add during its run means one more run', async () => {
    const { queue, live } = setUp();
    live('a');
    await queue.take();
    live('a');
    live('a');
    expect(queue.depth).toBe(0);
    queue.done('a', { then: 'forget' });
    expect(queue.depth).toBe(1);
    await queue.take();
    queue.done('a', { then: 'forget' });
    expect(queue.depth).toBe(0);
  });

  test('a hot key takes one worker, the others serve the quiet ones', async () => {
    const { queue, live } = setUp();
    live('hot');
    await queue.take();
    const others = [taker(queue), taker(queue)];
    for (let change = 0; change < 100; change += 1) live('hot');
    live('quiet');
    await microtasks();
    expect(others.map(({ item }) => item?.key)).toEqual(['quiet', undefined]);
  });

  test('a hot key goes behind those that were waiting when its run ended', async () => {
    const { queue, live, drain } = setUp();
    live('hot');
    await queue.take();
    live('hot');
    live('quiet');
    queue.done('hot', { then: 'forget' });
    expect(await drain()).toEqual(['quiet', 'hot']);
  });

  test('done without take is a mistake that is told', () => {
    const { queue, live } = setUp();
    live('a');
    expect(() => queue.done('a', { then: 'forget' })).toThrow('a is not being worked on');
    expect(() => queue.done('b', { then: 'forget' })).toThrow('b is not being worked on');
  });

  test('running tells for how long', async () => {
    const { queue, live, clock } = setUp();
    live('a');
    await queue.take();
    clock.advance(1234);
    expect(queue.running).toEqual([{ key: 'a', forMs: 1234 }]);
  });
});

describe('delays', () => {
  test('a delayed key comes at its time and not before', () => {
    const { queue, live, clock } = setUp();
    live('a', 1000);
    clock.advance(999);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  test('the earlier of two times is kept, whichever comes first', () => {
    const { queue, live, clock } = setUp();
    live('a', 1000);
    live('a', 5000);
    live('b', 5000);
    live('b', 1000);
    expect([queue.depth, queue.delayed]).toEqual([0, 2]);
    clock.advance(1000);
    expect([queue.depth, queue.delayed]).toEqual([2, 0]);
  });

  test('a key asked for again after a while waits for that while', async () => {
    const { queue, live, clock } = setUp();
    live('a');
    await queue.take();
    queue.done('a', { then: 'after', delayMs: 60_000 });
    clock.advance(59_999);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect((await queue.take())?.causes).toEqual(['scheduled']);
  });

  test('a delay of years does not fire at once', () => {
    const { queue, live, clock } = setUp();
    const year = 365 * 24 * 3600 * 1000;
    live('a', year);
    expect(clock.waits[0]).toBeLessThan(2 ** 31);
    clock.advance(year - 1);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect(queue.depth).toBe(1);
  });
});

describe('retries', () => {
  const failing = async (queue: Queue): Promise<Item | undefined> => {
    const item = await queue.take();
    if (item !== undefined) queue.done(item.key, { then: 'retry' });
    return item;
  };

  test('each failure doubles the delay', async () => {
    const { queue, live, clock } = setUp();
    live('a');
    const waits: number[] = [];
    for (let failure = 0; failure < 4; failure += 1) {
      await failing(queue);
      waits.push(clock.waits[0] ?? 0);
      clock.advance(clock.waits[0] ?? 0);
    }
    expect(waits).toEqual([100, 200, 400, 800]);
    expect(await queue.take()).toEqual({ key: 'a', causes: ['retry'], failures: 4 });
  });

  test('a success forgets the failures', async () => {
    const { queue, live, clock } = setUp();
    live('a');
    await failing(queue);
    clock.advance(100);
    await queue.take();
    queue.done('a', { then: 'forget' });
    live('a');
    await failing(queue);
    expect(clock.waits).toEqual([100]);
  });

  test('a live change brings a retry forward and does not forget the failures', async () => {
    const { queue, live } = setUp();
    live('a');
    await failing(queue);
    live('a');
    expect(queue.depth).toBe(1);
    expect((await queue.take())?.failures).toBe(1);
  });

  test('a live change during the run that fails is looked at at once', async () => {
    const { queue, live } = setUp();
    live('a');
    await queue.take();
    live('a');
    queue.done('a', { then: 'retry' });
    expect(queue.depth).toBe(1);
  });

  test('a resync does not bring a retry forward, before or during the run', async () => {
    const { queue, live, at, clock } = setUp();
    live('a');
    await queue.take();
    at('a', 'resync');
    queue.done('a', { then: 'retry', pace: { baseMs: 60_000, maxMs: 60_000 } });
    at('a', 'resync');
    clock.advance(59_999);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  test('what the server asked us to wait holds also against live changes', async () => {
    const { queue, live, clock } = setUp();
    live('a');
    await queue.take();
    live('a');
    queue.done('a', { then: 'retry', atLeastMs: 7000 });
    live('a');
    clock.advance(6999);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  test('ten thousand failing keys are retried at the rate of the bucket', async () => {
    const { queue, live, clock } = setUp({ bucket: { perSecond: 10, burst: 100 } });
    for (let key = 0; key < 10_000; key += 1) live(`key-${key}`);
    while (queue.depth > 0) await failing(queue);
    let tries = 0;
    for (let second = 0; second < 60; second += 1) {
      clock.advance(1000);
      for (; queue.depth > 0; tries += 1) await failing(queue);
    }
    expect(tries).toBeGreaterThanOrEqual(690);
    expect(tries).toBeLessThanOrEqual(700);
  });

  test('once retries succeed the bucket does not hold them up', async () => {
    const { queue, live, clock, drain } = setUp({ bucket: { perSecond: 1, burst: 5 } });
    for (let key = 0; key < 1000; key += 1) live(`key-${key}`);
    while (queue.depth > 0) await failing(queue);
    clock.advance(100);
    for (let key = 0; key < 5; key += 1) await failing(queue);
    expect(queue.depth).toBe(0);
    clock.advance(1000);
    expect((await drain()).length).toBe(1000);
  });

  test('a resync gives no token to a retry that waits for one, and a later wish does not put it off', async () => {
    const { queue, live, at, clock } = setUp({ bucket: { perSecond: 1, burst: 1 } });
    live('a');
    live('b');
    await failing(queue);
    await failing(queue);
    clock.advance(100);
    at('b', 'resync');
    live('b', 60_000);
    expect([queue.depth, queue.delayed]).toEqual([1, 1]);
    clock.advance(1000);
    expect([queue.depth, queue.delayed]).toEqual([2, 0]);
  });

  test('a live change needs no token', async () => {
    const { queue, live, clock } = setUp({ bucket: { perSecond: 1, burst: 1 } });
    live('a');
    live('b');
    await failing(queue);
    await failing(queue);
    clock.advance(100);
    expect([queue.depth, queue.delayed]).toEqual([1, 1]);
    live('b');
    expect(queue.depth).toBe(2);
  });
});

describe('shutting down', () => {
  test('takers and those who come later get nothing, also when keys wait', async () => {
    const { queue, live } = setUp();
    const waiting = taker(queue);
    queue.shutDown();
    live('a');
    await microtasks();
    expect(waiting).toEqual({ item: undefined, isSettled: true });
    expect(await queue.take()).toBeUndefined();
    const other = setUp();
    other.live('a');
    other.queue.shutDown();
    expect(await other.queue.take()).toBeUndefined();
  });

  test('what runs may end, and leaves no timer behind', async () => {
    const { queue, live, clock } = setUp();
    live('a');
    live('b', 5000);
    await queue.take();
    queue.shutDown();
    queue.done('a', { then: 'retry' });
    expect(queue.running).toEqual([]);
    expect(clock.waits).toEqual([]);
  });
});

test('the observer hears of adds, depth, waits, work and retries', async () => {
  const { queue, live, clock, heard } = setUp();
  live('a');
  clock.advance(2000);
  await queue.take();
  clock.advance(500);
  queue.done('a', { then: 'retry' });
  expect(heard.lines).toEqual(['added test', 'depth 1', 'waited 2', 'depth 0', 'worked 0.5', 'retried test']);
});

describe('whatever happens', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const level = fc.constantFrom<Level>('live', 'initial', 'resync');
  const ms = fc.integer({ min: 0, max: 40_000 });
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key, level, delayMs: fc.oneof(fc.constant(0), ms) }),
    fc.record({ do: fc.constant('take' as const) }),
    fc.record({ do: fc.constant('done' as const), key, next: fc.constantFrom('forget', 'after', 'retry') }),
    fc.record({ do: fc.constant('advance' as const), ms }),
  );

  /** Plays the steps with takers that are always there or not, and keeps the books by itself. */
  class World {
    readonly clock = new FakeClock(0);
    readonly queue = new Queue({ name: 'test', clock: this.clock, random: () => 0.5, observer: new Heard() });
    readonly running = new Set<string>();
    /** Keys that were added and not started since, with the earliest time that was asked for. */
    readonly owed = new Map<string, number>();
    readonly tooEarly: string[] = [];

    add(name: string, at: Level, delayMs: number): void {
      const time = this.clock.now() + delayMs;
      this.owed.set(name, Math.min(time, this.owed.get(name) ?? Infinity));
      this.queue.add(name, { level: at, cause: 'test', delayMs });
    }

    async take(): Promise<void> {
      if (this.queue.depth === 0) return;
      const item = await this.queue.take();
      if (item === undefined) throw new Error('there was a depth, but nothing to take');
      if (this.running.has(item.key)) throw new Error(`${item.key} runs twice`);
      this.running.add(item.key);
      const asked = this.owed.get(item.key);
      if (asked !== undefined && asked > this.clock.now() && item.causes.includes('test')) this.tooEarly.push(item.key);
      this.owed.delete(item.key);
    }

    done(name: string, next: string): void {
      if (!this.running.delete(name)) return;
      if (next === 'after') this.queue.done(name, { then: 'after', delayMs: 1000 });
      else this.queue.done(name, { then: next === 'retry' ? 'retry' : 'forget' });
    }

    /** Ends everything well, for as long as anything is left. */
    async settle(): Promise<void> {
      for (const name of [...this.running]) this.done(name, 'forget');
      for (let round = 0; round < 20; round += 1) {
        while (this.queue.depth > 0) {
          await this.take();
          for (const name of [...this.running]) this.done(name, 'forget');
        }
        this.clock.advance(100_000);
      }
    }
  }

  const play = async (steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]): Promise<World> => {
    const world = new World();
    for (const each of steps) {
      if (each.do === 'add') world.add(each.key, each.level, each.delayMs);
      else if (each.do === 'take') await world.take();
      else if (each.do === 'done') world.done(each.key, each.next);
      else world.clock.advance(each.ms);
    }
    return world;
  };

  test('no key runs twice at once, and none that was added is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = await play(steps);
        await world.settle();
        expect([...world.owed.keys()]).toEqual([]);
        expect([world.queue.depth, world.queue.delayed, world.queue.running.length]).toEqual([0, 0, 0]);
        expect(world.clock.waits).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('no key that was only added with delays runs before the earliest of them', async () => {
    const forgetting = fc.array(
      step.filter((each) => each.do !== 'done' || each.next === 'forget'),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(forgetting, async (steps) => {
        expect((await play(steps)).tooEarly).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('nothing is overtaken by what is added more than 30 s after it, and nothing by a level that is not higher', async () => {
    const arrivals = fc.array(fc.record({ gapMs: fc.integer({ min: 0, max: 15_000 }), level }), { maxLength: 40 });
    const rank = { live: 0, initial: 1, resync: 2 };
    await fc.assert(
      fc.asyncProperty(arrivals, async (list) => {
        const { queue, clock, at, drain } = setUp();
        const added = list.map(({ gapMs, level: its }, index) => {
          clock.advance(gapMs);
          at(String(index), its);
          return { at: clock.now(), level: its };
        });
        expect(queue.depth).toBe(list.length);
        const order = (await drain()).map(Number);
        order.forEach((overtaker, position) => {
          for (const overtaken of order.slice(position + 1)) {
            const [first, second] = [added[overtaker]!, added[overtaken]!];
            if (overtaker < overtaken) continue;
            expect(first.at - second.at).toBeLessThanOrEqual(30_000);
            expect(rank[first.level]).toBeLessThan(rank[second.level]);
          }
        });
      }),
    );
  });
});

test('ten thousand keys are added, delayed, taken and done in well under a second', async () => {
  const { live, clock, drain } = setUp();
  const start = performance.now();
  for (let key = 0; key < 10_000; key += 1) live(`key-${key}`, (key * 7919) % 1000);
  clock.advance(1000);
  expect((await drain()).length).toBe(10_000);
  expect(performance.now() - start).toBeLessThan(2000);
});
