/** The watch machine against every fault that watchers are known to fail on; the names come from public reports. */
import { describe, expect, jest, test } from '@jest/globals';
import { settled, soon } from '../../test/eventually.ts';
import * as faults from '../../test/fake-apiserver/faults.ts';
import { FakeApiServer } from '../../test/fake-apiserver/fake-apiserver.ts';
import { RecordingLog } from '../../test/recording-log.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import { createCache } from './cache.ts';
import { Gadget, Widget, widget, WatchHarness } from '../../test/watch-harness.ts';

jest.setTimeout(20_000);

const minute = 60_000;

describe('streams that say nothing', () => {
  test('a watch that goes silent without an error is noticed and resumed', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.stall(2));
    await h.watching();
    h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    h.server.create(Widget, widget('b'));
    await settled();
    expect(h.names).toEqual(['a']);
    h.clock.advance(75_000);
    await h.nextAttempt(1);
    await soon(() => h.names.length === 2);
    expect(h.restarts).toEqual(['silent']);
    expect(h.lists).toBe(1);
  });

  test('idle detection is armed before the first event', async () => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch' }, faults.stall(0));
    h.server.endWatches();
    await h.nextAttempt(1);
    await h.watching();
    h.server.create(Widget, widget('a'));
    await settled();
    expect(h.clock.waits).toContain(75_000);
    h.clock.advance(75_000);
    await h.nextAttempt(2);
    await soon(() => h.names.length === 1);
    expect(h.restarts).toEqual(['ended', 'silent']);
  });

  test('nor is a first watch waited for that never even begins', async () => {
    const clock = new FakeClock();
    const restarts: string[] = [];
    const silence = async function* (_: unknown, __: unknown, signal: AbortSignal): AsyncGenerator<never, void, void> {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    };
    const cache = createCache({
      client: { watch: silence, list: () => Promise.reject(new Error('nobody asked for a list')) },
      type: Widget,
      namespaces: 'all',
      trim: (object) => object,
      clock,
      random: () => 0.5,
      log: new RecordingLog(),
      observer: { watchEvent: () => undefined, watchRestarted: (_, reason) => restarts.push(reason) },
    });
    const stop = new AbortController();
    const running = cache.run(stop.signal);
    clock.advance(75_000);
    await soon(() => restarts.length === 1);
    expect(restarts).toEqual(['silent']);
    stop.abort(new Error('over'));
    await running;
  });

  test('a half-open watch is found by our own timer', async () => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch' }, faults.hang());
    h.server.resetWatches();
    await h.nextAttempt(1);
    await soon(() => h.server.seen('watch').length === 2);
    h.clock.advance(30_000);
    await h.restarted(2);
    expect(h.restarts).toEqual(['ConnectionFailed', 'ConnectionFailed']);
    await h.nextAttempt(2);
    await h.watching();
  });

  test('a quiet kind is watched for an hour without a blind gap', async () => {
    await using h = await WatchHarness.synced();
    for (let i = 1; i <= 60; i += 1) {
      h.clock.advance(minute);
      h.server.bookmark();
      await soon(() => h.events.filter((type) => type === 'BOOKMARK').length === i + 1);
    }
    expect(h.restarts).toEqual([]);
    expect(h.server.requests).toHaveLength(1);
  });

  test('a quiet kind on a server without bookmarks is resumed every 75 s, and never listed again', async () => {
    await using h = await WatchHarness.synced();
    for (let i = 1; i <= 48; i += 1) {
      await h.watching();
      h.clock.advance(75_000);
      // Made in the moment between the two connections.
      h.server.create(Widget, widget(`w${i}`));
      expect(await h.restarted(i)).not.toBeLessThan(0);
      await soon(() => h.names.length === i);
    }
    expect(new Set(h.restarts)).toEqual(new Set(['silent']));
    expect(h.lists).toBe(1);
  });

  test('a stream that does not tell of our own write within 10 s is cut, long before the idle timer', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.stall(1));
    await h.watching();
    const made = h.server.create(Widget, widget('a'));
    h.server.create(Widget, widget('b'));
    h.cache.written(made);
    h.clock.advance(10_000);
    await h.nextAttempt(1);
    await soon(() => h.names.length === 2);
    expect(h.restarts).toEqual(['behind']);
  });

  test('a write that is not ours to hear of cuts the stream once, not for ever', async () => {
    await using h = await WatchHarness.synced({ labelSelector: 'app=x' });
    h.cache.written(h.server.create(Widget, widget('a')));
    h.clock.advance(10_000);
    await h.nextAttempt(1);
    await h.watching();
    h.clock.advance(60_000);
    await settled();
    expect(h.restarts).toEqual(['behind']);
  });

  test('writes that come back in time cut nothing', async () => {
    await using h = await WatchHarness.synced();
    for (let i = 0; i < 10; i += 1) {
      h.cache.written(h.server.create(Widget, widget(`w${i}`)));
      h.clock.advance(3_000);
      await soon(() => h.events.filter((type) => type === 'ADDED').length === i + 1);
    }
    h.clock.advance(10_000);
    await settled();
    expect(h.restarts).toEqual([]);
  });
});

describe('streams that end or break', () => {
  test('a connection reset resumes from the last resource version', async () => {
    await using h = await WatchHarness.synced();
    h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    h.server.resetWatches();
    await h.nextAttempt(1);
    await h.watching();
    expect(h.server.seen('watch').at(-1)?.query).toMatchObject({
      resourceVersion: '1001',
      allowWatchBookmarks: 'true',
    });
    expect(h.lists).toBe(1);
    expect(h.told).toEqual(['added a@1001']);
  });

  test('a closed watch resumes; it does not list again', async () => {
    await using h = await WatchHarness.synced();
    h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    h.server.endWatches();
    h.server.create(Widget, widget('b'));
    await h.nextAttempt(1);
    await soon(() => h.names.length === 2);
    expect(h.lists).toBe(1);
    expect(h.told).toEqual(['added a@1001', 'added b@1002']);
  });

  test.each([
    [0, '300'],
    [0.5, '450'],
    [0.999, '600'],
  ])('the server is asked to end a watch after five to ten minutes, spread by chance (%d)', async (chance, seconds) => {
    await using h = await WatchHarness.synced({ random: () => chance });
    expect(h.server.requests[0]?.query).toMatchObject({ timeoutSeconds: seconds });
  });

  test('a bookmark is where the next watch begins', async () => {
    await using h = await WatchHarness.synced();
    h.server.state.skipVersions(500);
    h.server.bookmark();
    await soon(() => h.events.length === 2);
    h.server.state.compact(1400);
    h.server.endWatches();
    await h.nextAttempt(1);
    await h.watching();
    expect(h.server.seen('watch').at(-1)?.query).toMatchObject({ resourceVersion: '1500' });
    expect(h.lists).toBe(1);
  });

  test('a watch that lasted is resumed at once, without waiting', async () => {
    await using h = await WatchHarness.synced();
    h.clock.advance(10_000);
    h.server.bookmark();
    await soon(() => h.events.length === 2);
    h.server.endWatches();
    expect(await h.restarted(1)).toBe(0);
  });

  test('a failing watch backs off instead of reconnecting tens of times a second', async () => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch', times: 99 }, faults.refuse(500, 'InternalError'));
    h.server.endWatches();
    const waits: number[] = [];
    for (let i = 1; i <= 10; i += 1) {
      waits.push(await h.restarted(i));
      await h.nextAttempt(i);
    }
    expect(waits).toEqual([188, 375, 750, 1500, 3000, 6000, 12000, 22500, 22500, 22500]);
  });

  test.each([
    ['at once', faults.end(0)],
    ['after one event each', faults.end(1)],
    ['by a reset after one event each', faults.reset(1)],
  ])('streams that are ended %s are not reopened without pause', async (_, fault) => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch', times: 99 }, fault);
    h.server.endWatches();
    for (let i = 1; i <= 8; i += 1) {
      h.server.create(Widget, widget(`w${i}`));
      await h.nextAttempt(i);
    }
    expect(await h.restarted(9)).toBeGreaterThan(20_000);
    expect(h.lists).toBe(1);
  });

  test('a backoff that grew is forgotten after a stream that lasted', async () => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch', times: 6 }, faults.refuse(500, 'InternalError'));
    h.server.endWatches();
    for (let i = 1; i <= 7; i += 1) await h.nextAttempt(i);
    await h.watching();
    h.clock.advance(minute);
    h.server.bookmark();
    await soon(() => h.events.at(-1) === 'BOOKMARK' && h.cache.health().lastActivityMs === 0);
    h.server.endWatches();
    expect(await h.restarted(8)).toBe(0);
  });

  test('a pending reconnect never sticks', async () => {
    await using h = await WatchHarness.synced();
    const { port } = h.server;
    await h.server.stop();
    for (let i = 1; i <= 12; i += 1) await h.nextAttempt(i);
    await h.restarted(13);
    await h.server.listen(port);
    await h.nextAttempt(13);
    await h.watching();
  });

  test('stopping ends a pending reconnect, an open stream and a list alike, at once', async () => {
    const waiting = await WatchHarness.synced();
    waiting.server.resetWatches();
    await waiting.restarted(1);
    const open = await WatchHarness.synced();
    const listing = await WatchHarness.start();
    listing.server.fault({ verb: 'watch' }, faults.hang());
    await soon(() => listing.server.requests.length === 1);
    for (const h of [waiting, open, listing]) {
      await h.stop();
      await soon(() => h.server.openConnections === 0);
      expect(h.clock.waits).toEqual([]);
      const { length } = h.server.requests;
      h.clock.advance(10 * minute);
      await settled();
      expect(h.server.requests).toHaveLength(length);
      await h.server[Symbol.asyncDispose]();
    }
  });

  test('the API server is gone for a minute: it is waited for, nothing is listed again and nothing told twice', async () => {
    await using h = await WatchHarness.synced();
    h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    const { port } = h.server;
    const gone = h.clock.now();
    await h.server.stop();
    let count = 1;
    for (; h.clock.now() + (await h.restarted(count)) - gone < minute; count += 1) await h.nextAttempt(count);
    expect(count).toBeLessThan(15);
    expect(h.cache.health()).toMatchObject({
      synced: true,
      watching: false,
      lastError: expect.stringMatching(/connection refused/),
    });
    expect(h.cache.get('shop', 'a')).toBeDefined();
    await h.server.listen(port);
    h.server.create(Widget, widget('b'));
    await h.nextAttempt(count);
    await soon(() => h.names.length === 2);
    expect(h.lists).toBe(1);
    expect(h.told).toEqual(['added a@1001', 'added b@1002']);
    expect(h.log.at('warn').map(({ message }) => message)).toEqual(['watch failed; trying again']);
    expect(h.log.at('info')).toMatchObject([
      { message: 'watch works again', fields: { resource: 'widgets.example.com', seconds: expect.any(Number) } },
    ]);
  });
});

describe('versions that are gone', () => {
  test('410 as HTTP status and 410 inside the stream both relist once', async () => {
    for (const asStatus of [true, false]) {
      await using h = await WatchHarness.synced();
      h.server.create(Widget, widget('a'));
      await soon(() => h.names.length === 1);
      if (asStatus) h.server.fault({ verb: 'watch' }, faults.refuse(410, 'Expired'));
      else h.server.state.compact(2000);
      h.server.endWatches();
      await h.nextAttempt(1);
      await h.nextAttempt(2);
      await h.watching();
      h.server.create(Widget, widget('b'));
      await soon(() => h.names.length === 2);
      expect(h.lists).toBe(2);
      expect(h.restarts).toEqual(['ended', 'Expired']);
      expect(h.told).toEqual(['added a@1001', 'added b@1002']);
      expect(h.log.at('warn')).toEqual([]);
    }
  });

  test('a 410 in a stream that lasted relists without waiting', async () => {
    await using h = await WatchHarness.synced();
    h.clock.advance(minute);
    h.server.fault({ verb: 'watch' }, faults.streamError(1, 410, 'Expired'));
    h.server.bookmark();
    await soon(() => h.events.length === 2);
    h.server.endWatches();
    await h.nextAttempt(1);
    await h.watching();
    h.clock.advance(minute);
    h.server.bookmark();
    expect(await h.restarted(2)).toBe(0);
    await soon(() => h.lists === 2);
  });

  test('what was missed behind a 410 is told as differences', async () => {
    await using h = await WatchHarness.synced();
    for (const name of ['kept', 'changed', 'gone']) h.server.create(Widget, widget(name));
    await soon(() => h.names.length === 3);
    h.changes.length = 0;
    await missedBehind410(h, () => {
      const { state } = h.server;
      state.delete(Widget, state.get(Widget, 'shop', 'gone')!);
      state.update(Widget, state.get(Widget, 'shop', 'changed')!, (object) => void (object.spec = { size: 2 }));
      h.server.create(Widget, widget('new'));
    });
    await soon(() => h.changes.length === 3);
    expect(h.told).toEqual(['deleted gone@1006', 'modified changed@1005', 'added new@1006']);
    expect(h.changes.every(({ initial }) => initial)).toBe(true);
    await h.equal();
  });

  test('delete and recreate under one name behind a 410 is seen as delete + add', async () => {
    await using h = await WatchHarness.synced();
    h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    await missedBehind410(h, () => {
      h.server.state.delete(Widget, h.server.state.get(Widget, 'shop', 'a')!);
      h.server.create(Widget, widget('a'));
    });
    await soon(() => h.changes.length === 3);
    expect(h.changes.map(({ type, object }) => `${type} ${object.metadata.uid ?? ''}`)).toEqual([
      'added uid-1',
      'deleted uid-1',
      'added uid-2',
    ]);
  });

  test('a relist is swapped in at once: no reader ever sees half of it', async () => {
    await using h = await WatchHarness.synced();
    for (let i = 0; i < 20; i += 1) h.server.create(Widget, widget(`w${i}`));
    await soon(() => h.names.length === 20);
    const sizes = new Set<number>();
    h.cache.subscribe(() => sizes.add(h.cache.size));
    let release = (): void => undefined;
    h.server.fault({ verb: 'watch', query: 'sendInitialEvents' }, faults.refuse(422, 'Invalid'));
    h.server.fault({ verb: 'list' }, faults.hold(new Promise<void>((resolve) => (release = resolve))));
    await missedBehind410(h, () => undefined);
    await soon(() => h.server.seen('list').length === 1);
    expect(h.cache.size).toBe(20);
    release();
    await h.watching();
    expect(sizes).toEqual(new Set());
  });

  test('no DELETED is ever delivered for a live object', async () => {
    await using h = await WatchHarness.start();
    let release = (): void => undefined;
    h.server.fault({ verb: 'watch', query: 'sendInitialEvents' }, faults.refuse(422, 'Invalid'));
    h.server.fault({ verb: 'list' }, faults.hold(new Promise<void>((resolve) => (release = resolve))));
    await soon(() => h.server.seen('list').length === 1);
    // Created while the list is under way, and known from our own write before it arrives.
    h.cache.written(h.server.create(Widget, widget('ours')));
    h.server.create(Widget, widget('theirs'));
    release();
    await soon(() => h.names.length === 2);
    await h.equal();
    expect(h.told).toEqual(['added theirs@1002']);
  });

  test('an error that the resume gets again and again leads to a new list', async () => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch', times: 2 }, faults.streamError(0, 500, 'InternalError'));
    h.server.endWatches();
    for (let i = 1; i <= 3; i += 1) await h.nextAttempt(i);
    await h.watching();
    expect(h.lists).toBe(2);
  });
});

/** The watch ends, something happens, and the server forgets it before we are back. */
const missedBehind410 = async (h: WatchHarness, happens: () => void): Promise<void> => {
  h.server.endWatches();
  await h.restarted(1);
  happens();
  h.server.state.compact();
  h.server.state.skipVersions(0);
  h.server.fault({ verb: 'watch' }, faults.refuse(410, 'Expired'));
  await h.nextAttempt(1);
  await h.nextAttempt(2);
};

describe('refusals', () => {
  test.each([
    ['with Retry-After waits at least so long', 7, 7 * 1125],
    ['without waits by our own backoff', undefined, 188],
  ])('a 429 %s', async (_, seconds, expected) => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.refuse(429, 'TooManyRequests', seconds));
    expect(await h.restarted(1)).toBe(expected);
    await h.nextAttempt(1);
    await h.watching();
  });

  test('a fresh definition whose storage is still being set up (429) is watched as soon as it is ready', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch', times: 3 }, faults.refuse(429, 'TooManyRequests', 1));
    for (let i = 1; i <= 3; i += 1) await h.nextAttempt(i);
    await h.watching();
    expect(h.cache.hasSynced).toBe(true);
  });

  test('a 429 whose body is a Status in place of a stream is not read as one', async () => {
    await using h = await WatchHarness.synced();
    h.server.fault(
      { verb: 'watch' },
      faults.notAnEvent(0, { kind: 'Status', code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 4 } }),
    );
    h.server.endWatches();
    await h.nextAttempt(1);
    expect(await h.restarted(2)).toBe(4500);
  });

  test('a pod that no longer watches after 429 is not ready', async () => {
    await using h = await WatchHarness.synced();
    expect(h.cache.health()).toEqual({ synced: true, watching: true, lastActivityMs: 0, failures: 0 });
    h.server.fault({ verb: 'watch', times: 99 }, faults.refuse(429, 'TooManyRequests', 1));
    h.server.endWatches();
    for (let i = 1; i <= 4; i += 1) await h.nextAttempt(i);
    await h.restarted(5);
    expect(h.cache.health()).toMatchObject({ watching: false, failures: 5, lastError: 'injected TooManyRequests' });
    h.server.clearFaults();
    await h.nextAttempt(5);
    await h.watching();
    expect(h.cache.health()).toMatchObject({ watching: true, failures: 0 });
    expect(h.cache.health()).not.toHaveProperty('lastError');
  });

  test('a 403 on list backs off and is reported', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ times: 99 }, faults.refuse(403, 'Forbidden'));
    for (let i = 1; i <= 10; i += 1) await h.nextAttempt(i);
    await h.restarted(11);
    expect(h.server.requests).toHaveLength(11);
    expect(h.server.openConnections).toBeLessThanOrEqual(1);
    expect(h.cache.hasSynced).toBe(false);
    expect(h.cache.health().lastError).toBe('injected Forbidden');
    const [warning, ...more] = h.log.at('warn');
    expect(warning).toMatchObject({
      message: 'no right to list and watch; waiting for it to be granted',
      fields: { resource: 'widgets.example.com' },
    });
    expect(more).toEqual([]);
    h.server.clearFaults();
    await h.nextAttempt(11);
    await h.watching();
    expect(h.cache.hasSynced).toBe(true);
    expect(h.log.at('info')).toMatchObject([{ message: 'watch works again' }]);
  });

  test('a right that is taken away in one namespace does not stop the others', async () => {
    await using h = await WatchHarness.synced({ namespaces: ['shop', 'bank'] });
    h.server.fault({ verb: 'watch', times: 1 }, faults.refuse(403, 'Forbidden'));
    h.server.watches.find(({ request }) => request.namespace === 'bank')?.end();
    await h.restarted(1);
    h.clock.advance(200);
    await h.restarted(2);
    h.server.create(Widget, widget('a'));
    await soon(() => h.cache.get('shop', 'a') !== undefined);
    expect(h.cache.health()).toMatchObject({ watching: false, lastError: 'injected Forbidden' });
  });

  test('a definition that is not installed yet is waited for', async () => {
    await using h = await WatchHarness.start({ server: await FakeApiServer.start({ types: [] }) });
    for (let i = 1; i <= 5; i += 1) await h.nextAttempt(i);
    await h.restarted(6);
    expect(h.log.at('warn')).toMatchObject([
      { message: 'the type is not served; waiting for its definition to be installed' },
    ]);
    h.server.install(Widget);
    h.server.create(Widget, widget('a'));
    await h.nextAttempt(6);
    await soon(() => h.names.length === 1);
  });

  test('a definition that is removed and installed again is listed anew', async () => {
    await using h = await WatchHarness.synced();
    h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    h.server.uninstall(Widget);
    await h.nextAttempt(1);
    await h.restarted(2);
    h.server.state.delete(Widget, h.server.state.get(Widget, 'shop', 'a')!);
    h.server.install(Widget);
    await h.nextAttempt(2);
    await soon(() => h.names.length === 0);
    expect(h.lists).toBe(2);
    expect(h.told).toEqual(['added a@1001', 'deleted a@1002']);
  });

  test('the first list failing with 503 or a reset is retried', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({}, faults.lostRequest());
    h.server.fault({}, faults.refuse(503, 'ServiceUnavailable'));
    h.server.create(Widget, widget('a'));
    await h.nextAttempt(1);
    await h.nextAttempt(2);
    await soon(() => h.names.length === 1);
    expect(h.restarts).toEqual(['ConnectionFailed', 'ServiceUnavailable']);
  });
});

describe('lists', () => {
  test('lists are paged and bookmarks asked for', async () => {
    const server = await FakeApiServer.start({ types: [Widget] });
    for (let i = 0; i < 1100; i += 1) server.create(Widget, widget(`w${i}`));
    server.fault({ verb: 'watch' }, faults.refuse(422, 'Invalid'));
    await using h = await WatchHarness.synced({ server });
    expect(h.cache.size).toBe(1100);
    expect(server.seen('list').map(({ query }) => [query['limit'], query['continue'] !== undefined])).toEqual([
      ['500', false],
      ['500', true],
      ['500', true],
    ]);
    await soon(() => server.watches.length === 1);
    expect(server.seen('watch').at(-1)?.query).toMatchObject({ resourceVersion: '2100', allowWatchBookmarks: 'true' });
    await h.equal();
  });

  test('a continue token that expires starts the list again; the third time it comes in one piece', async () => {
    const server = await FakeApiServer.start({ types: [Widget] });
    for (let i = 0; i < 600; i += 1) server.create(Widget, widget(`w${i}`));
    server.fault({ verb: 'watch' }, faults.refuse(422, 'Invalid'));
    server.fault({ verb: 'list', query: 'continue', times: 2 }, faults.refuse(410, 'Expired'));
    await using h = await WatchHarness.synced({ server });
    expect(h.cache.size).toBe(600);
    expect(server.seen('list').map(({ query }) => query['limit'] ?? 'all')).toEqual([
      '500',
      '500',
      '500',
      '500',
      'all',
    ]);
    expect(h.restarts).toHaveLength(1);
  });

  test.each([
    [422, 'Invalid'],
    [400, 'BadRequest'],
  ])('a server that refuses streamed lists (%d) is asked for pages, from then on', async (code, reason) => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch', query: 'sendInitialEvents', times: 99 }, faults.refuse(code, reason));
    await h.watching();
    await missedBehind410(h, () => undefined).catch(() => undefined);
    await soon(() => h.server.seen('list').length === 2);
    expect(h.server.seen('watch').filter(({ query }) => 'sendInitialEvents' in query)).toHaveLength(1);
  });

  test('a streamed list whose end bookmark never comes falls back to pages after 10 s of silence', async () => {
    await using h = await WatchHarness.start();
    h.server.create(Widget, widget('a'));
    h.server.fault({ verb: 'watch' }, faults.withoutEndBookmark());
    await soon(() => h.events.length === 1 && h.clock.waits.includes(10_000));
    expect(h.cache.hasSynced).toBe(false);
    h.clock.advance(10_000);
    await h.watching();
    expect(h.names).toEqual(['a']);
    expect(h.restarts).toEqual(['unlisted']);
    expect(h.server.seen('list')).toHaveLength(1);
  });

  test('nor does it wait for ever while events keep coming', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.withoutEndBookmark());
    for (let i = 1; h.restarts.length === 0; i += 1) {
      h.server.create(Widget, widget(`w${i}`));
      await soon(() => h.events.length === i || h.restarts.length > 0);
      h.clock.advance(9_000);
      await settled();
      expect(i).toBeLessThan(20);
    }
    await h.watching();
    await h.equal();
  });

  test('a streamed list that ends half-way falls back to pages', async () => {
    await using h = await WatchHarness.start();
    for (const name of ['a', 'b', 'c']) h.server.create(Widget, widget(name));
    h.server.fault({ verb: 'watch' }, faults.end(2));
    await h.watching();
    await h.equal();
    expect(h.server.seen('list')).toHaveLength(1);
  });
});

describe('what a stream says', () => {
  test.each([
    ['a line that is not JSON', faults.garbage(1)],
    ['a line that is no event', faults.notAnEvent(1, { type: 'ADDED' })],
    ['a cut within an object', faults.cutWithin(1, (line) => line.length >> 1)],
  ])('%s loses nothing: the stream resumes before it', async (_, fault) => {
    await using h = await WatchHarness.synced();
    h.server.fault({ verb: 'watch' }, fault);
    h.server.endWatches();
    await h.nextAttempt(1);
    await h.watching();
    h.server.create(Widget, widget('a'));
    h.server.create(Widget, widget('b'));
    await h.nextAttempt(2);
    await h.equal();
    expect(h.told).toEqual(['added a@1001', 'added b@1002']);
    expect(h.lists).toBe(1);
  });

  test('events that come twice are told once', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.twice());
    await h.watching();
    const a = h.server.create(Widget, widget('a'));
    h.server.state.delete(Widget, a);
    await soon(() => h.changes.length === 2);
    await settled();
    expect(h.told).toEqual(['added a@1001', 'deleted a@1002']);
  });

  test('events of different objects in another order lead to the same state', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.swapped());
    h.server.create(Widget, widget('a'));
    await h.watching();
    for (const name of ['b', 'c', 'd', 'e']) h.server.create(Widget, widget(name));
    await h.equal();
  });

  test('an object of 2 MB, in small pieces', async () => {
    await using h = await WatchHarness.start();
    h.server.fault({ verb: 'watch' }, faults.inPieces(16_384));
    await h.watching();
    h.server.create(Widget, widget('a', { data: 'é'.repeat(1_000_000) }));
    await soon(() => h.names.length === 1);
    expect(h.cache.get('shop', 'a')?.data).toHaveLength(1_000_000);
  });

  test('a server that is behind does not take the cache back', async () => {
    await using h = await WatchHarness.synced();
    const a = h.server.create(Widget, widget('a'));
    await soon(() => h.names.length === 1);
    h.server.state.update(Widget, a, (object) => void (object.spec = { size: 2 }));
    h.server.create(Widget, widget('b'));
    await soon(() => h.names.length === 2);
    h.server.fault({ verb: 'watch', query: 'sendInitialEvents' }, faults.stale(1001));
    h.server.fault({ verb: 'watch' }, faults.refuse(410, 'Expired'));
    h.server.endWatches();
    const versions: (string | undefined)[] = [];
    h.cache.subscribe(() => versions.push(h.cache.get('shop', 'a')?.metadata.resourceVersion));
    await h.nextAttempt(1);
    await h.nextAttempt(2);
    await h.watching();
    await settled();
    expect(h.cache.get('shop', 'a')?.metadata.resourceVersion).toBe('1002');
    expect(h.names).toEqual(['a', 'b']);
    expect(versions).toEqual([]);
  });
});

describe('listeners', () => {
  test('an object deleted during its own ADDED handler stays deleted', async () => {
    await using h = await WatchHarness.synced();
    h.cache.subscribe(({ type, object }) => {
      if (type === 'added') h.server.state.delete(Widget, object);
    });
    h.server.create(Widget, widget('a'));
    await soon(() => h.changes.length === 2);
    h.server.endWatches();
    await h.nextAttempt(1);
    await h.watching();
    await settled();
    expect(h.told).toEqual(['added a@1001', 'deleted a@1002']);
    expect(h.names).toEqual([]);
  });

  test('an error in an add handler does not end the process, nor the watch, nor the other handlers', async () => {
    await using h = await WatchHarness.synced();
    const heard: string[] = [];
    h.cache.subscribe(() => {
      throw new Error('a bug');
    });
    h.cache.subscribe(({ object }) => heard.push(object.metadata.name));
    h.server.create(Widget, widget('a'));
    h.server.create(Widget, widget('b'));
    await soon(() => heard.length === 2);
    expect(h.restarts).toEqual([]);
    expect(h.log.at('error')).toHaveLength(2);
    expect(h.log.at('error')[0]).toMatchObject({
      message: 'a listener of the cache failed',
      error: new Error('a bug'),
    });
  });

  test('ten consumers of one kind share one list and one watch', async () => {
    await using h = await WatchHarness.synced();
    const heard = Array.from({ length: 10 }, () => [] as string[]);
    const unsubscribe = heard.map((names) => h.cache.subscribe(({ object }) => names.push(object.metadata.name)));
    h.server.create(Widget, widget('a'));
    await soon(() => heard.every((names) => names.length === 1));
    unsubscribe[0]?.();
    h.server.create(Widget, widget('b'));
    await soon(() => heard[9]?.length === 2);
    expect(heard[0]).toEqual(['a']);
    expect(h.server.requests).toHaveLength(1);
    expect(h.server.openConnections).toBe(1);
  });

  test('two kinds never swap callbacks', async () => {
    await using widgets = await WatchHarness.synced();
    const gadgets = await WatchHarness.synced({ type: Gadget, server: widgets.server });
    for (let i = 1; i <= 20; i += 1) {
      widgets.server.create(Widget, widget(`w${i}`));
      widgets.server.create(Gadget, { ...widget(`g${i}`), kind: 'Gadget' });
      widgets.server.resetWatches();
      await Promise.all([widgets, gadgets].map((h) => h.nextAttempt(i)));
      await Promise.all([widgets, gadgets].map((h) => h.watching()));
      await Promise.all([widgets, gadgets].map((h) => h.equal()));
    }
    expect(new Set(widgets.changes.map(({ object }) => object.kind))).toEqual(new Set(['Widget']));
    expect(new Set(gadgets.changes.map(({ object }) => object.kind))).toEqual(new Set(['Gadget']));
    await gadgets.stop();
  });

  test('changes of one object come in order, each with what was before', async () => {
    await using h = await WatchHarness.synced();
    let object = h.server.create(Widget, widget('a'));
    for (let size = 1; size <= 5; size += 1)
      object = h.server.state.update(Widget, object, (each) => void (each.spec = { size }));
    h.server.state.delete(Widget, object);
    await soon(() => h.changes.length === 7);
    expect(h.told).toEqual(['added a@1001', ...[2, 3, 4, 5, 6].map((n) => `modified a@100${n}`), 'deleted a@1007']);
    for (const [index, change] of h.changes.entries()) expect(change.previous).toEqual(h.changes[index - 1]?.object);
  });
});

describe('what is watched', () => {
  test('one namespace each, and only those', async () => {
    await using h = await WatchHarness.synced({ namespaces: ['shop', 'bank', 'shop'] });
    expect(h.server.requests.map(({ namespace }) => namespace).sort()).toEqual(['bank', 'shop']);
    h.server.create(Widget, widget('a', {}, 'shop'));
    h.server.create(Widget, widget('a', {}, 'bank'));
    h.server.create(Widget, widget('a', {}, 'elsewhere'));
    await soon(() => h.cache.size === 2);
    expect(h.cache.get('bank', 'a')?.metadata.namespace).toBe('bank');
    expect(h.cache.get('elsewhere', 'a')).toBeUndefined();
    expect(h.cache.hasSynced).toBe(true);
  });

  test('children are found by their owner in every namespace, and listed page by page where lists are not streamed', async () => {
    await using h = await WatchHarness.start({ namespaces: ['shop', 'bank'] });
    h.server.fault({ verb: 'watch', times: 2 }, faults.refuse(422, 'Invalid'));
    const owner = { apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'owner-1', controller: true };
    for (const namespace of ['shop', 'bank', 'elsewhere']) {
      h.server.create(Widget, widget('a', { metadata: { name: 'a', namespace, ownerReferences: [owner] } }));
    }
    h.server.create(Widget, widget('alone'));
    await soon(() => h.cache.size === 3);
    expect(h.cache.ownedBy('owner-1').map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'bank']);
    expect(
      h.server
        .seen('list')
        .map(({ namespace }) => namespace)
        .sort(),
    ).toEqual(['bank', 'shop']);
  });

  test('only what matches the label selector; leaving it is an end, coming back a beginning', async () => {
    await using h = await WatchHarness.synced({ labelSelector: 'app=x' });
    const labels = (app: string) => ({ metadata: { name: 'a', namespace: 'shop', labels: { app } } });
    let a = h.server.create(Widget, widget('a', labels('x')));
    h.server.create(Widget, widget('noise', { metadata: { name: 'noise', namespace: 'shop', labels: { app: 'y' } } }));
    for (const app of ['y', 'x'])
      a = h.server.state.update(Widget, a, ({ metadata }) => void (metadata.labels = { app }));
    await soon(() => h.changes.length === 3);
    expect(h.told).toEqual(['added a@1001', 'deleted a@1003', 'added a@1004']);
    expect(h.server.requests[0]?.query).toMatchObject({ labelSelector: 'app=x' });
  });

  test('is synced only when every namespace is', async () => {
    await using h = await WatchHarness.start({ namespaces: ['shop', 'bank'] });
    h.server.fault({ verb: 'watch' }, faults.hang());
    await soon(() => h.server.watches.length === 1 && h.events.length === 1);
    await settled();
    expect(h.cache.hasSynced).toBe(false);
    expect(h.cache.health()).toMatchObject({ synced: false, watching: false, lastActivityMs: undefined });
  });

  test('what is kept is trimmed: lists, events and our own writes alike', async () => {
    const server = await FakeApiServer.start({ types: [Widget] });
    server.create(Widget, widget('a'));
    await using h = await WatchHarness.synced({ server });
    server.create(Widget, widget('b'));
    h.cache.written(server.create(Widget, widget('c')));
    await soon(() => h.cache.size === 3);
    for (const object of h.cache.list()) expect(object.metadata.managedFields).toBeUndefined();
  });
});
