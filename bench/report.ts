/** The figures as text for people. Pure. */
import { tableOf } from '../local/table.ts';
import type { Leg, LegCost } from './leg.ts';
import type { BenchOptions } from './options.ts';
import type { QuietPhase } from './quiet.ts';
import type { Verdict } from './targets.ts';

export interface Machine {
  readonly processors: number;
  readonly processor: string;
  readonly memoryGiB: number;
  readonly platform: string;
  readonly node: string;
  readonly kubernetes: string;
}

/** What goes into the JSON file. */
export interface Report {
  readonly when: string;
  /** With `+` when files have been changed since. */
  readonly commit: string;
  readonly machine: Machine;
  readonly options: Pick<BenchOptions, 'n' | 'concurrency' | 'rounds'>;
  readonly creators: number;
  readonly legs: readonly Leg[];
  readonly quiet: readonly QuietPhase[];
  readonly verdicts: readonly Verdict[];
}

export function linesOf(report: Report): readonly string[] {
  const { machine, options, commit, creators } = report;
  return [
    `${options.n} WebServers a leg, ${creators} creates at a time, ${options.concurrency} worked on at a time`,
    `commit ${commit}, Kubernetes ${machine.kubernetes}, Node ${machine.node}, ${machine.platform}, ` +
      `${machine.processors} x ${machine.processor}, ${machine.memoryGiB.toFixed(0)} GiB`,
    '',
    ...legTable(report.legs),
    '',
    ...requestTable(report.legs),
    '',
    ...quietTable(report.quiet),
    '',
    ...verdictTable(report.verdicts),
  ];
}

function legTable(legs: readonly Leg[]): readonly string[] {
  const cost = (figure: (cost: LegCost) => string) => (leg: Leg) => (leg.cost === undefined ? 'n/a' : figure(leg.cost));
  const cpu = (who: keyof LegCost['cpuMsPerResource']) =>
    cost(({ cpuMsPerResource }) => cpuMsPerResource[who].toFixed(2));
  const rows: readonly [string, (leg: Leg) => string][] = [
    ['WebServers per second', ({ perSecond }) => perSecond.toFixed(1)],
    ['  creates alone, per second', ({ n, createSeconds }) => (n / createSeconds).toFixed(1)],
    ['latency p50, ms', ({ latency }) => latency.p50Ms.toFixed(0)],
    ['latency p99, ms', ({ latency }) => latency.p99Ms.toFixed(0)],
    ['writes per WebServer', ({ writesPerResource }) => writesPerResource.toFixed(3)],
    ['GETs per WebServer', ({ getsPerResource }) => getsPerResource.toFixed(3)],
    ['CPU ms per WebServer: this process', cpu('worker')],
    ['  kube-apiserver', cpu('apiserver')],
    ['  etcd', cpu('etcd')],
    ['  load generator', cpu('generator')],
    ['  all four', cost(({ cpuMsPerResource }) => sum(Object.values(cpuMsPerResource)).toFixed(2))],
    ['RSS peak, MiB', cost(({ peakRssMiB }) => peakRssMiB.toFixed(0))],
    ['RSS when served, MiB', cost(({ steadyRssMiB }) => steadyRssMiB.toFixed(0))],
    ["others' share of the processors", cost(({ foreignShare }) => percent(foreignShare))],
    ['load average', ({ loadAverage }) => loadAverage.toFixed(1)],
  ];
  return tableOf(
    ['', ...legs.map(({ who }) => who)],
    rows.map(([title, figure]) => [title, ...legs.map(figure)]),
  );
}

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

function requestTable(legs: readonly Leg[]): readonly string[] {
  const requests = [...new Set(legs.flatMap(({ requestsPerResource }) => Object.keys(requestsPerResource)))].sort();
  return tableOf(
    ['REQUESTS PER WEBSERVER', ...legs.map(({ who }) => who)],
    requests.map((request) => [
      request,
      ...legs.map(({ requestsPerResource }) => (requestsPerResource[request] ?? 0).toFixed(3)),
    ]),
  );
}

function quietTable(phases: readonly QuietPhase[]): readonly string[] {
  return tableOf(
    ['NOTHING TO DO', 'SECONDS', 'RECONCILES', 'WRITES', 'GETS', 'LISTS', 'RSS MIB'],
    phases.map(({ phase, seconds, reconciles, writes, gets, lists, rssMiB }) => [
      phase,
      seconds.toFixed(1),
      ...[reconciles, writes, gets, lists].map(String),
      rssMiB?.toFixed(0) ?? 'n/a',
    ]),
  );
}

function verdictTable(verdicts: readonly Verdict[]): readonly string[] {
  return tableOf(
    ['TARGET', 'GOT', ''],
    verdicts.map(({ target, got, isMet }) => [
      target,
      Number.isInteger(got) ? String(got) : got.toFixed(3),
      isMet ? 'PASS' : 'MISS',
    ]),
  );
}
