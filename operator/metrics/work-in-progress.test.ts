import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WorkInProgress } from './work-in-progress.ts';

function workAt() {
  const time = { ms: 1_000_000 };
  return { time, work: new WorkInProgress({ now: () => time.ms, after: () => () => undefined }) };
}

describe('work in progress', () => {
  test('is as old as the oldest that has not finished', () => {
    const { time, work } = workAt();
    work.started('webserver');
    time.ms += 5000;
    work.started('webserver');
    time.ms += 1000;
    expect([work.longestSeconds('webserver'), work.unfinishedSeconds('webserver')]).toEqual([6, 7]);
    work.finished('webserver', 1);
    expect([work.longestSeconds('webserver'), work.unfinishedSeconds('webserver')]).toEqual([6, 6]);
    work.finished('webserver', 6);
    expect([work.longestSeconds('webserver'), work.unfinishedSeconds('webserver')]).toEqual([0, 0]);
  });

  test('is counted for each controller apart', () => {
    const { time, work } = workAt();
    work.add('memcached');
    work.started('webserver');
    time.ms += 2000;
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
        const { time, work } = workAt();
        const running: number[] = [];
        for (const { pauseMs, finish } of steps) {
          time.ms += pauseMs;
          if (finish === null || running.length === 0) {
            running.push(time.ms);
            work.started('c');
          } else {
            const [start] = running.splice(finish % running.length, 1);
            work.finished('c', (time.ms - start!) / 1000);
          }
          const oldest = running.length === 0 ? time.ms : Math.min(...running);
          expect(work.longestSeconds('c')).toBeCloseTo((time.ms - oldest) / 1000, 6);
        }
      }),
    );
  });
});
