import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KubeObject } from '../../charts/resource.ts';
import { EventAggregator } from './aggregator.ts';
import type { EventInput } from './recorder.ts';

const webNamed = (name: string): KubeObject => ({
  apiVersion: 'webserver.example.com/v1',
  kind: 'WebServer',
  metadata: { name, namespace: 'shop', uid: `uid-${name}` },
});
const web = webNamed('web');
const input: EventInput = { type: 'Warning', reason: 'Conflict', action: 'Apply', note: 'Deployment web is not ours' };
const minute = 60_000;
const start = 1_000_000_000;

describe('the aggregation of events', () => {
  test('makes an Event of the first, a series of the second, and counts the third', () => {
    const aggregator = new EventAggregator('pod');
    const first = aggregator.occurred(web, input, start, 0);
    expect(first?.series).toBeUndefined();
    const second = aggregator.occurred(web, input, start + 1000, 0.5);
    expect(second?.event.metadata.name).toBe(first?.event.metadata.name);
    expect(second?.series).toEqual({ count: 2, lastObservedTime: '1970-01-12T13:46:41.000000Z' });
    expect(aggregator.occurred(web, input, start + 2000, 0)).toBeUndefined();
  });

  test('tells the count of a series every five minutes, and only when it grew', () => {
    const aggregator = new EventAggregator('pod');
    for (const second of [0, 1, 2, 3]) aggregator.occurred(web, input, start + second * 1000, 0);
    expect(aggregator.due(start + 4 * minute)).toEqual([]);
    expect(aggregator.due(start + 5 * minute + 1000).map((write) => write.series?.count)).toEqual([4]);
    expect(aggregator.due(start + 6 * minute)).toEqual([]);
  });

  test('tells the last count of a series that ended and forgets it', () => {
    const aggregator = new EventAggregator('pod');
    for (const second of [0, 1, 2]) aggregator.occurred(web, input, start + second * 1000, 0);
    expect(aggregator.due(start + 7 * minute).map((write) => write.series?.count)).toEqual([3]);
    expect(aggregator.isEmpty).toBe(true);
    expect(aggregator.occurred(web, input, start + 8 * minute, 0)?.series).toBeUndefined();
  });

  test('takes an occurrence after a long pause for a new Event even before it was cleaned up', () => {
    const aggregator = new EventAggregator('pod');
    aggregator.occurred(web, input, start, 0);
    expect(aggregator.occurred(web, input, start + 6 * minute + 1, 0)?.series).toBeUndefined();
  });

  test('keeps apart what differs in object, type, reason, action, note or related object', () => {
    const aggregator = new EventAggregator('pod');
    const others: readonly EventInput[] = [
      input,
      { ...input, type: 'Normal' },
      { ...input, reason: 'Other' },
      { ...input, action: 'Prune' },
      { ...input, note: 'Service web is not ours' },
      { ...input, related: webNamed('related') },
    ];
    const writes = [
      ...others.map((other) => aggregator.occurred(web, other, start, 0)),
      aggregator.occurred(webNamed('b'), input, start, 0),
    ];
    expect(writes.map((write) => write !== undefined && write.series === undefined)).toEqual(Array(7).fill(true));
  });

  test('allows an object 25 new Events, then one every five minutes', () => {
    const aggregator = new EventAggregator('pod');
    const at = (now: number, note: string) => aggregator.occurred(web, { ...input, note }, now, 0) !== undefined;
    const accepted = Array.from({ length: 100 }, (_, i) => at(start, `note ${i}`)).filter(Boolean);
    expect(accepted).toHaveLength(25);
    expect(aggregator.occurred(webNamed('other'), input, start, 0)).toBeDefined();
    expect(at(start + 4 * minute, 'later')).toBe(false);
    expect(at(start + 5 * minute, 'later still')).toBe(true);
    expect(at(start + 5 * minute, 'too early again')).toBe(false);
  });

  test('goes on counting a series whose object has used up its budget', () => {
    const aggregator = new EventAggregator('pod');
    for (let i = 0; i < 100; i++) aggregator.occurred(web, { ...input, note: `note ${i}` }, start, 0);
    expect(aggregator.occurred(web, { ...input, note: 'note 0' }, start, 0)?.series?.count).toBe(2);
  });

  test('gives all that was not told at the end', () => {
    const aggregator = new EventAggregator('pod');
    for (let i = 0; i < 5; i++) aggregator.occurred(web, input, start, 0);
    expect(aggregator.untold(start + 1).map((write) => write.series?.count)).toEqual([5]);
    expect(aggregator.untold(start + 1)).toEqual([]);
  });

  test('stays small however many objects have events', () => {
    const aggregator = new EventAggregator('pod');
    for (let i = 0; i < 10_000; i++) {
      aggregator.occurred(webNamed(`w${i}`), input, start, 0);
      aggregator.occurred(webNamed(`w${i}`), input, start, 0);
      aggregator.occurred(webNamed(`w${i}`), input, start, 0);
    }
    expect(aggregator.untold(start).length).toBeLessThanOrEqual(4096);
  });

  test('in the end tells the true number of occurrences, in far fewer requests', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 5 * minute }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(pauses, (steps) => {
        const aggregator = new EventAggregator('pod');
        let now = start;
        const writes = steps.flatMap((pause) => {
          now += pause;
          return [aggregator.occurred(web, input, now, 0) ?? [], aggregator.due(now)].flat();
        });
        const all = [...writes, ...aggregator.due(now + 10 * minute)];
        expect(all.filter((write) => write.series === undefined)).toHaveLength(1);
        expect(all.at(-1)?.series?.count ?? 1).toBe(steps.length);
        expect(all.length).toBeLessThanOrEqual(3 + (now - start) / (5 * minute));
      }),
    );
  });
});
