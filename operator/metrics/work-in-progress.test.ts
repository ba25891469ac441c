import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../test/fake-clock.ts';
import { WorkInProgress } from './work-in-progress.ts';

function workAt() {
  const clock = new FakeClock();
  return { clock, work: new WorkInProgress(clock) };
}

describe('work in progress', () => {
  test('is as old as the oldest that has not finished', () => {
    const { clock, work } = workAt();
    work.started('webserver');
    clock.advance(5000);
    work.started('webserver');
    clock.advance(1000);
    expect([work.longestSeconds('webserver'), work.unfinishedSeconds('webserver')]).toEqual([6, 7]);
    work.finished('webserver', 1);
    expect([work.longestSeconds('webserver'), work.unfinishedSeconds('webserver')]).toEqual([6, 6]);
    work.finished('webserver', 6);
    expect([work.longestSeconds('webserver'), work.unfinishedSeconds('webserver')]).toEqual([0, 0]);
  });

  test('is counted for each controller apart', () => {
    const { clock, work } = workAt();
    work.add('memcached');
    work.started('webserver');
    clock.advance(2000);
    expect(work.controllers).toEqual(['memcached', 'webserver']);
    expect([work.longestSeconds('memcached'), work.longestSeconds('webserver')]).toEqual([0, 2]);
  });

  test('forgets work that was never seen to start without harm', () => {
    const { work } = workAt();
    work.finished('webserver', 3);
    expect(work.longestSeconds('webserver')).toBe(0);
  });

  test('equals the true set of running work, whatever finishes first', () => {
    const step = fc.record({ pauseMs: fc.integer({ min: 1, max: 5000 }), finish: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { clock, work } = workAt();
        const running: number[] = [];
        for (const { pauseMs, finish } of steps) {
          clock.advance(pauseMs);
          if (finish === null || running.length === 0) {
            running.push(clock.now());
            work.started('c');
          } else {
            const [start] = running.splice(finish % running.length, 1);
            work.finished('c', (clock.now() - start!) / 1000);
          }
          const oldest = running.length === 0 ? clock.now() : Math.min(...running);
          expect(work.longestSeconds('c')).toBeCloseTo((clock.now() - oldest) / 1000, 6);
        }
      }),
    );
  });
});
