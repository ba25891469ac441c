/** Whatever the network and the server do, in whatever order: when they stop, the cache is what the server has. */
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { settled, soon } from '../../test/eventually.ts';
import * as faults from '../../test/fake-apiserver/faults.ts';
import { Widget, widget, WatchHarness } from '../../test/watch-harness.ts';

jest.setTimeout(120_000);

type Act = (h: WatchHarness) => void;

const name = fc.constantFrom('a', 'b', 'c', 'd');
const few = fc.integer({ min: 0, max: 3 });

const isDeleted = (line: faults.StreamLine): boolean => line.type === 'DELETED';

const streamFault: fc.Arbitrary<faults.Fault> = fc.oneof(
  few.map(faults.end),
  few.map(faults.reset),
  few.map(faults.stall),
  few.map(faults.garbage),
  few.map((count) => faults.streamError(count, 410, 'Expired')),
  few.map((count) => faults.streamError(count, 500, 'InternalError')),
  few.map((count) => faults.cutWithin(count, (line) => line.length >> 1)),
  fc.integer({ min: 1, max: 50 }).map(faults.inPieces),
  fc.constantFrom<faults.Fault>(
    faults.twice(),
    faults.withoutEndBookmark(),
    faults.notAnEvent(1, { kind: 'Status', code: 429 }),
  ),
);

const reply: fc.Arbitrary<faults.Fault> = fc.constantFrom<faults.Fault>(
  faults.refuse(410, 'Expired'),
  faults.refuse(429, 'TooManyRequests', 1),
  faults.refuse(429, 'TooManyRequests'),
  faults.refuse(500, 'InternalError'),
  faults.refuse(503, 'ServiceUnavailable'),
  faults.refuse(403, 'Forbidden'),
  faults.refuse(422, 'Invalid'),
  faults.lostRequest(),
  faults.hang(),
  faults.text(200, '<html>'),
  faults.text(200, ''),
);

const fault = fc.oneof(streamFault, reply);

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: name.map((n): Act => (h) => {
      const live = h.server.state.get(Widget, 'shop', n);
      if (live === undefined) h.server.create(Widget, widget(n));
      else h.server.state.update(Widget, live, (object) => void (object.spec = { at: h.server.state.version }));
    }),
  },
  {
    weight: 2,
    arbitrary: name.map((n): Act => (h) => {
      const live = h.server.state.get(Widget, 'shop', n);
      if (live !== undefined) h.server.state.delete(Widget, live);
    }),
  },
  {
    weight: 2,
    arbitrary: name.map((n): Act => (h) => {
      const live = h.server.state.get(Widget, 'shop', n);
      h.cache.written(live === undefined ? h.server.create(Widget, widget(n)) : live);
    }),
  },
  {
    weight: 1,
    arbitrary: name.map((n): Act => (h) => {
      const live = h.server.state.get(Widget, 'shop', n);
      if (live === undefined) return;
      h.server.state.delete(Widget, live);
      h.cache.deleted('shop', n, live.metadata.uid ?? '');
    }),
  },
  {
    weight: 3,
    arbitrary: fault.map(
      (each): Act =>
        (h) =>
          h.server.fault({}, each),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Act>((h) => h.server.endWatches()) },
  { weight: 1, arbitrary: fc.constant<Act>((h) => h.server.resetWatches()) },
  { weight: 1, arbitrary: fc.constant<Act>((h) => h.server.bookmark()) },
  { weight: 1, arbitrary: fc.constant<Act>((h) => h.server.state.compact()) },
);

/** Time passes, as slowly as sockets need, until the machine has got over everything. */
const recover = async (h: WatchHarness): Promise<void> => {
  h.server.clearFaults();
  h.server.resetWatches();
  for (let turns = 0; turns < 50; turns += 1) {
    await settled();
    if (h.cache.health().watching) return;
    h.clock.advance(h.clock.waits[0] ?? 0);
  }
  throw new Error(`does not recover: ${h.restarts.join(', ')}`);
};

test('after any faults and changes the cache equals the server, and listeners were told nothing that is not so', async () => {
  let restarts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
      await using h = await WatchHarness.start();
      for (const each of acts) {
        each(h);
        await settled(3);
        const wait = h.clock.waits[0];
        if (wait !== undefined) h.clock.advance(wait);
      }
      await recover(h);
      await h.equal();
      restarts += h.restarts.length;
      const live = new Set(h.server.state.list(Widget).map(({ metadata }) => metadata.uid));
      const ended = h.changes.filter(({ type }) => type === 'deleted').map(({ object }) => object.metadata.uid);
      expect(ended.filter((uid) => live.has(uid))).toEqual([]);
      expect(new Set(ended).size).toBe(ended.length);
    }),
    { numRuns: 150 },
  );
  expect(restarts).toBeGreaterThan(500);
});

test('a DELETED that is lost is made good by the next list', async () => {
  await using h = await WatchHarness.start();
  h.server.fault({ verb: 'watch' }, faults.without(isDeleted));
  await h.watching();
  const a = h.server.create(Widget, widget('a'));
  await soon(() => h.names.length === 1);
  h.server.state.delete(Widget, a);
  h.server.create(Widget, widget('b'));
  await soon(() => h.names.length === 2);
  h.server.fault({ verb: 'watch' }, faults.refuse(410, 'Expired'));
  h.server.resetWatches();
  await h.nextAttempt(1);
  await h.nextAttempt(2);
  await h.equal();
  expect(h.told.at(-1)).toBe('deleted a@1003');
});
