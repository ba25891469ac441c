/** Drift: a child was last written for what we still want, and others have changed it since. */
import { ceilingMs, type Pace } from '../queue/backoff.ts';
import type { Difference } from './diff.ts';
import type { Pass } from './parts.ts';
import type { Desired } from './render.ts';

/** Two that each insist on a field would otherwise write it in turn, as fast as the server takes it. */
const contestPace: Pace = { baseMs: 500, maxMs: 60_000 };

/** Whoever leaves the child alone for so long is forgiven. */
const forgetAfterMs = 2 * 60_000;

/** Whether the child may be repaired now. The first repair is at once; each further one within minutes waits longer. */
export function mayRepair(child: string, { notes, clock, work }: Pass): boolean {
  const now = clock.now();
  const last = notes.contest(child);
  if (last !== undefined && now < last.until) {
    work.retryAt = Math.min(last.until, work.retryAt ?? Infinity);
    return false;
  }
  const repairs = last === undefined || now - last.lastAt > forgetAfterMs ? 1 : last.repairs + 1;
  notes.setContest(child, {
    repairs,
    lastAt: now,
    until: repairs === 1 ? now : now + ceilingMs(contestPace, repairs - 1),
  });
  return true;
}

const shownPaths = 5;

export const pathsOf = (found: readonly Difference[]): readonly string[] => {
  const paths = found.slice(0, shownPaths).map(({ path }) => path);
  return found.length > shownPaths ? [...paths, `${found.length - shownPaths} more`] : paths;
};

/** Whoever edits a child should learn why the edit did not last. Paths only: values may be confidential. */
export function tellDrift(child: Desired, found: readonly Difference[], pass: Pass): void {
  const paths = pathsOf(found);
  pass.log.info('drift was repaired', { child: child.id, paths });
  pass.recorder.event(pass.resource, {
    type: 'Normal',
    reason: 'DriftRepaired',
    action: 'Apply',
    note: `${child.id} was changed by others and is as desired again: ${paths.join(', ')}`,
  });
}
