/** When is a watch dead? The judgement behind /healthz, apart from the probes so that it can be tested by itself. */
import type { Clock } from '../clock.ts';
import type { CacheHealth } from '../watch/cache.ts';
import type { Check } from './checks.ts';

/** Far longer than any pause that the watch machine makes by itself: bookmarks come every minute, attempts more often. */
const deadAfterMs = 5 * 60_000;

/**
 * Fails when a watch shows no sign of life: nothing heard, and no attempt made either. A server that is away or refuses is
 * no sign of death, because being restarted would not help; /readyz and the log tell about it.
 */
export function watchIsAlive(
  name: string,
  health: () => Pick<CacheHealth, 'lastActivityMs' | 'failures'>,
  clock: Clock,
): Check {
  let seenFailures = 0;
  let aliveAt = clock.now();
  const problem = (): string | undefined => {
    const { lastActivityMs, failures } = health();
    const now = clock.now();
    if (failures !== seenFailures) aliveAt = now;
    seenFailures = failures;
    aliveAt = Math.max(aliveAt, now - (lastActivityMs ?? Number.POSITIVE_INFINITY));
    return now - aliveAt <= deadAfterMs ? undefined : `no sign of life for ${Math.round((now - aliveAt) / 1000)} s`;
  };
  return { name, problem };
}
