/**
 * What the probes answer, as a pure function of the checks and the request. The form is that of Kubernetes' own components:
 * `ok` or a list with one line a check, `?verbose`, `?exclude=NAME`, `/healthz/NAME`. Why a check failed is told at its own
 * path; it is a constant phrase or a reason of the API, never content of objects: anybody who reaches the port may read it.
 */

export interface Check {
  /** Of the path `/healthz/NAME`. */
  readonly name: string;
  /** Why it fails now, in a few words; undefined while it passes. Cheap: no request is made for it. */
  readonly problem: () => string | undefined;
}

/** Path to checks: `/healthz`, `/readyz`. A path without checks always passes. */
export type Probes = Readonly<Record<string, readonly Check[]>>;

export interface ProbeAnswer {
  readonly status: 200 | 404 | 500;
  readonly body: string;
}

const notFound: ProbeAnswer = { status: 404, body: '404 page not found\n' };

/** The answer to a GET of that path and query. */
export function answerProbe(probes: Probes, path: string, query: URLSearchParams): ProbeAnswer {
  const [, probe = '', name, ...rest] = path.replace(/\/+$/, '').split('/');
  const checks = Object.hasOwn(probes, `/${probe}`) ? probes[`/${probe}`] : undefined;
  if (checks === undefined || rest.length > 0) return notFound;
  if (name === undefined) return answerAll(probe, checks, query);
  const check = checks.find((candidate) => candidate.name === name);
  return check === undefined ? notFound : answerOne(check);
}

function answerOne(check: Check): ProbeAnswer {
  const problem = check.problem();
  return problem === undefined
    ? { status: 200, body: 'ok' }
    : { status: 500, body: `internal server error: ${problem}\n` };
}

function answerAll(probe: string, checks: readonly Check[], query: URLSearchParams): ProbeAnswer {
  const excluded = new Set(query.getAll('exclude'));
  const lines = checks.map((check) => lineOf(check, excluded));
  const isPassing = lines.every((line) => line.startsWith('[+]'));
  if (isPassing && !query.has('verbose')) return { status: 200, body: 'ok' };
  const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name));
  const warning = unknown.length === 0 ? [] : ['warn: some health checks cannot be excluded: no matches for them'];
  const verdict = `${probe} check ${isPassing ? 'passed' : 'failed'}`;
  return { status: isPassing ? 200 : 500, body: `${[...lines, ...warning, verdict].join('\n')}\n` };
}

function lineOf(check: Check, excluded: ReadonlySet<string>): string {
  if (excluded.has(check.name)) return `[+]${check.name} excluded: ok`;
  return check.problem() === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`;
}
