import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { createLog } from '../log/create-log.ts';
import { Reachability } from './reachability.ts';

function listening() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLog({
    format: 'text',
    level: 'info',
    now: () => 0,
    write: (line) => lines.push(line.slice(13).trimEnd()),
  });
  return { clock, lines, reachability: new Reachability({ clock, log }) };
}

describe('an API server that is away', () => {
  test('is told of once, and once that it is back', () => {
    const { clock, lines, reachability } = listening();
    reachability.heard(true);
    for (let attempt = 0; attempt < 20; attempt++) {
      reachability.heard(false);
      clock.advance(3000);
    }
    reachability.heard(true);
    reachability.heard(true);
    expect(lines).toEqual([
      'WARN  the API server does not answer; waiting for it',
      'INFO  the API server answers again afterSeconds=60',
    ]);
  });

  test('is told of when it is away from the start', () => {
    const { clock, lines, reachability } = listening();
    reachability.heard(false);
    clock.advance(3000);
    expect(lines).toHaveLength(1);
  });

  test('is no news when the next request gets through', () => {
    const { clock, lines, reachability } = listening();
    for (let attempt = 0; attempt < 5; attempt++) {
      reachability.heard(false);
      clock.advance(2000);
      reachability.heard(true);
      clock.advance(60_000);
    }
    expect(lines).toEqual([]);
  });

  test('is told of again the next time', () => {
    const { clock, lines, reachability } = listening();
    for (let outage = 0; outage < 2; outage++) {
      reachability.heard(false);
      clock.advance(5000);
      reachability.heard(true);
    }
    expect(lines).toHaveLength(4);
  });
});
