/** A watcher runs for months: nothing may be left behind by a reconnect, an event or an object that came and went. */
import { expect, jest, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { settled, soon } from '../../test/eventually.ts';
import * as faults from '../../test/fake-apiserver/faults.ts';
import { Widget, widget, WatchHarness } from '../../test/watch-harness.ts';

jest.setTimeout(120_000);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const heapAfterCollection = async (): Promise<number> => {
  for (let i = 0; i < 3; i += 1) {
    await settled();
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
};

/** What keeps the process alive, by type: sockets, timers, pipes. */
const resources = (): string => process.getActiveResourcesInfo().sort().join(' ');

/** Forgets what the harness has recorded, so that only the machine itself is measured. */
const forget = (h: WatchHarness): void => {
  for (const list of [h.changes, h.restarts, h.events, h.log.lines, h.server.requests]) list.length = 0;
};

/** The stream breaks and is resumed. */
const reconnect = async (h: WatchHarness, cut: () => void): Promise<void> => {
  cut();
  await h.nextAttempt(1);
  await h.watching();
  forget(h);
};

const loops = async (h: WatchHarness, count: number, cut: () => void): Promise<void> => {
  for (let i = 0; i < 5; i += 1) await reconnect(h, cut);
  await settled();
  const before = resources();
  for (let i = 0; i < count; i += 1) await reconnect(h, cut);
  await soon(
    () => h.server.openConnections === 1 && resources() === before,
    () => `${resources()} instead of ${before}`,
  );
  expect(h.clock.waits).toHaveLength(1);
};

test('a thousand reconnects leave no extra sockets or file handles', async () => {
  await using h = await WatchHarness.synced();
  forget(h);
  await loops(h, 700, () => h.server.endWatches());
  await loops(h, 200, () => h.server.resetWatches());
  await loops(h, 100, () => h.clock.advance(75_000));
});

test('a thousand refused watches use one connection', async () => {
  await using h = await WatchHarness.synced();
  h.server.fault({ verb: 'watch', times: 1000 }, faults.refuse(403, 'Forbidden'));
  h.server.endWatches();
  for (let i = 0; i < 1000; i += 1) {
    await h.nextAttempt(1);
    forget(h);
  }
  await h.nextAttempt(1);
  await h.watching();
  expect(h.server.connections).toBeLessThanOrEqual(2);
});

test('watching in a loop does not grow memory', async () => {
  await using h = await WatchHarness.synced();
  forget(h);
  const some = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1)
      await reconnect(h, () => (i % 2 === 0 ? h.server.endWatches() : h.server.resetWatches()));
  };
  await some(300);
  const before = await heapAfterCollection();
  await some(700);
  // A listener or closure left behind by each reconnect would be a megabyte.
  expect((await heapAfterCollection()) - before).toBeLessThan(300_000);
});

test('events in a loop do not grow memory: 5,000 objects that come and go', async () => {
  await using h = await WatchHarness.synced();
  const churn = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 100) {
      for (let j = 0; j < 100; j += 1) h.server.state.forget(Widget, h.server.create(Widget, widget(`w${i + j}`)));
      await soon(() => h.cache.size === 0 && h.changes.length === 200);
      forget(h);
    }
  };
  await churn(2_000);
  const before = await heapAfterCollection();
  await churn(5_000);
  expect((await heapAfterCollection()) - before).toBeLessThan(500_000);
});
