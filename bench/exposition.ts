/** Reads the Prometheus text format, as far as the API server and the operator write it. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of that very metric. Of a line that cannot be read it throws: a count that is left out would be a lie. */
export function samplesOf(text: string, metric: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .map((line) => sampleOf(line, metric));
}

/** The sum over all series of that metric whose labels have these values; 0 where there is none. */
export function sumOf(text: string, metric: string, labels: Readonly<Record<string, string>> = {}): number {
  return samplesOf(text, metric)
    .filter((sample) => Object.entries(labels).every(([name, value]) => sample.labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/y;
const escapes: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

function sampleOf(line: string, metric: string): Sample {
  const [labels, rest] = line.startsWith(`${metric}{`) ? labelsOf(line, metric.length + 1) : [{}, metric.length];
  const value = Number(line.slice(rest).trim().split(' ', 1)[0] || 'nothing');
  if (Number.isNaN(value)) throw new Error(`cannot read the metric line ${JSON.stringify(line)}`);
  return { labels, value };
}

/** The labels that begin at that position, and where the value begins. */
function labelsOf(line: string, start: number): [Record<string, string>, number] {
  const labels: Record<string, string> = {};
  label.lastIndex = start;
  let end = start;
  for (let match = label.exec(line); match !== null; match = label.exec(line)) {
    labels[match[1] ?? ''] = (match[2] ?? '').replace(/\\[n"\\]/g, (escape) => escapes[escape] ?? escape);
    end = label.lastIndex;
  }
  if (line[end] !== '}') throw new Error(`cannot read the metric line ${JSON.stringify(line)}`);
  return [labels, end + 1];
}
