/** What the figures are held to (issue 3, section 7). Pure. */
import type { Leg } from './leg.ts';
import type { QuietPhase } from './quiet.ts';
import { leastWritesPerResource } from './plan.ts';
import { median, percentile } from './statistics.ts';

export interface Verdict {
  readonly target: string;
  readonly got: number;
  readonly isMet: boolean;
  /** Whether it is a count, the same on every machine. Only such a target decides the exit code: a time may be the machine's fault. */
  readonly isCounted: boolean;
}

const leastRatio = 0.7;
const mostWrites = 1.05;

export function verdictsOf(legs: readonly Leg[], phases: readonly QuietPhase[]): readonly Verdict[] {
  const writes = percentile(
    of(legs, 'operator').map(({ writesPerResource }) => writesPerResource),
    1,
  );
  const thrift = writes / leastWritesPerResource;
  const ratio = throughputRatioOf(legs);
  return [
    {
      target: `throughput, ratio to the floor >= ${leastRatio}`,
      got: ratio,
      isMet: ratio >= leastRatio,
      isCounted: false,
    },
    {
      target: `writes, ratio to the least <= ${mostWrites}`,
      got: thrift,
      isMet: thrift <= mostWrites,
      isCounted: true,
    },
    ...phases.flatMap(({ phase, writes: written, gets }) => [
      { target: `writes, ${phase}: 0`, got: written, isMet: written === 0, isCounted: true },
      { target: `GETs, ${phase}: 0`, got: gets, isMet: gets === 0, isCounted: true },
    ]),
  ];
}

/** The operator's resources per second over the floor's; of several legs the median. */
export const throughputRatioOf = (legs: readonly Leg[]): number =>
  median(of(legs, 'operator').map(({ perSecond }) => perSecond)) /
  median(of(legs, 'floor').map(({ perSecond }) => perSecond));

const of = (legs: readonly Leg[], who: Leg['who']): readonly Leg[] => legs.filter((leg) => leg.who === who);
