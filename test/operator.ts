/** The whole operator as a child process, for tests: started with flags, asked through its endpoints, read through its log. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './api.ts';

export interface OperatorOptions {
  /** Namespaces that it serves. */
  readonly namespaces: readonly string[];
  /** @default the test cluster's administrator */
  readonly kubeconfig?: string;
  /** More flags; they win over the helper's. @default none */
  readonly flags?: readonly string[];
  /** What is run. @default operator/main.ts */
  readonly program?: string;
}

/** One line of its log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestOperator extends AsyncDisposable {
  /** Its instance name: stands in its user agent and in its events. */
  readonly instance: string;
  log(): readonly LogLine[];
  /** Asks a probe: `/readyz?verbose`. */
  probe(path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** Sum of the samples of that metric that have all these labels; 0 if there is none. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Resolves when /readyz says ok. */
  ready(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it ends, asked or not. */
  readonly exited: Promise<Exit>;
  /** SIGTERM, and how it ended. */
  stop(): Promise<Exit>;
}

const root = join(import.meta.dirname, '..');
const anyPort = '127.0.0.1:0';

/** Runs the operator with exactly these arguments, to its end. */
export function runToEnd(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = 'operator/main.ts',
): Promise<Exit> {
  return launch(args, env, program).exited;
}

/** Starts the operator on free ports and waits until it serves its probes; it need not be ready. */
export async function startOperator(options: OperatorOptions): Promise<TestOperator> {
  const instance = `test-${randomUUID().slice(0, 8)}`;
  const kubeconfig = options.kubeconfig ?? process.env['REPRISE_TEST_KUBECONFIG'] ?? '';
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--namespaces=${options.namespaces.join(',')}`,
    `--health-probe-bind-address=${anyPort}`,
    `--metrics-bind-address=${anyPort}`,
    ...(options.flags ?? []),
  ];
  const operator = launch(args, { POD_NAME: instance }, options.program ?? 'operator/main.ts');
  const addressOf = (what: string): unknown => operator.lines.find(({ msg }) => msg === `serving ${what}`)?.['address'];
  await operator.until(() => addressOf('metrics') !== undefined);
  const get = async (what: string, path: string) => {
    const answer = await fetch(`http://${String(addressOf(what))}${path}`);
    return { status: answer.status, body: await answer.text() };
  };
  const stop = (): Promise<Exit> => {
    operator.kill('SIGTERM');
    return operator.exited;
  };
  return {
    instance,
    exited: operator.exited,
    log: () => operator.lines,
    probe: (path) => get('probes', path),
    metric: async (name, labels = {}) => sumOf((await get('metrics', '/metrics')).body, name, labels),
    ready: async () => {
      await eventually(
        () => get('probes', '/readyz'),
        ({ status }) => status === 200,
        20_000,
      );
    },
    signal: operator.kill,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

interface Launched {
  readonly exited: Promise<Exit>;
  readonly lines: readonly LogLine[];
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when that holds after some line of the log; throws with its output when it ends before. */
  until(holds: () => boolean): Promise<void>;
}

function launch(args: readonly string[], env: Readonly<Record<string, string>>, program: string): Launched {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', resolve(root, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
  });
  const lines: LogLine[] = [];
  const output = { stdout: '', stderr: '' };
  let look = (): void => undefined;
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  createInterface({ input: child.stderr }).on('line', (line) => {
    output.stderr += `${line}\n`;
    if (line.startsWith('{')) lines.push(JSON.parse(line) as LogLine);
    look();
  });
  const exited = new Promise<Exit>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, ...output })),
  );
  // A test that dies must not leave its operator behind.
  const killWithTest = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithTest);
  child.once('close', () => process.off('exit', killWithTest));
  return {
    exited,
    lines,
    kill: (signal) => void child.kill(signal),
    until: (holds) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (holds()) resolve();
        };
        look();
        void exited.then(({ code, stderr }) => reject(new Error(`the operator ended with ${String(code)}: ${stderr}`)));
      }),
  };
}

function sumOf(exposition: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return exposition
    .split('\n')
    .filter((line) => new RegExp(`^${name}[{ ]`).test(line) && wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
