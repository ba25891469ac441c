import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Heap } from './heap.ts';

interface Member {
  readonly rank: number;
}

const heapOf = (members: readonly Member[]): Heap<Member> => {
  const heap = new Heap<Member>((a, b) => a.rank < b.rank);
  for (const member of members) heap.add(member);
  return heap;
};

const drained = (heap: Heap<Member>): number[] => {
  const ranks: number[] = [];
  for (let next = heap.takeFirst(); next !== undefined; next = heap.takeFirst()) ranks.push(next.rank);
  return ranks;
};

const ranks = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });
const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

describe('the heap', () => {
  test('gives its members back in order', () => {
    fc.assert(
      fc.property(ranks, (values) => {
        expect(drained(heapOf(values.map((rank) => ({ rank }))))).toEqual(ascending(values));
      }),
    );
  });

  test('any member can be removed and the rest stays in order', () => {
    fc.assert(
      fc.property(ranks, fc.infiniteStream(fc.boolean()), (values, coin) => {
        const members = values.map((rank) => ({ rank }));
        const heap = heapOf(members);
        const kept = members.filter((member) => {
          const goes = coin.next().value as boolean;
          if (goes) expect(heap.remove(member)).toBe(true);
          return !goes;
        });
        expect(heap.size).toBe(kept.length);
        expect(drained(heap)).toEqual(ascending(kept.map(({ rank }) => rank)));
      }),
    );
  });

  test('removing what is not there says so and changes nothing', () => {
    const heap = heapOf([{ rank: 1 }]);
    expect(heap.remove({ rank: 1 })).toBe(false);
    expect(heap.first).toEqual({ rank: 1 });
  });
});
