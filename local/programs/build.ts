/** Programs built from their Go modules, pinned by go.mod and go.sum beside this file. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import type { Progress } from '../progress.ts';
import { elapsed } from '../progress.ts';
import { goFlags } from './table.ts';
import type { Program } from './table.ts';

const run = promisify(execFile);

/** The module that pins the programs. */
export const moduleFolder = import.meta.dirname;
/** What go.mod demands. */
const goMinor = 26;

export interface BuildOptions {
  readonly progress: Progress;
  /** Told the process as soon as it runs, so that it can be ended even when this one is killed. */
  readonly onStart?: (pid: number) => void;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  /** @default the environment of this process */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Why programs cannot be built here, in words; `undefined` when they can. */
export async function whyNotBuild(environment: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  try {
    // Outside of the module: inside, Go would begin to fetch the toolchain that go.mod names.
    const settings = { cwd: '/', env: environment, timeout: 20_000 };
    const { stdout } = await run('go', ['env', 'GOVERSION', 'GOTOOLCHAIN'], settings);
    const [version = '', toolchain = ''] = stdout.split('\n');
    return whyNotWith(version, toolchain);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no go on PATH' : `go does not run: ${lastLine(error)}`;
  }
}

/** The same for a version of Go. From 1.21 on, Go fetches a newer toolchain by itself unless GOTOOLCHAIN is `local`. */
export function whyNotWith(version: string, toolchain: string): string | undefined {
  const minor = Number(/^go1\.(\d+)/.exec(version)?.[1] ?? goMinor);
  if (minor >= goMinor || (minor >= 21 && toolchain !== 'local')) return undefined;
  return `go on PATH is ${version.replace('go', '')}, 1.${goMinor} is needed`;
}

/**
 * Builds the programs into `folder` in one run of Go: they share most packages. Throws with Go's last words when it
 * fails; when `signal` aborts, Go is ended first.
 */
export async function build(programs: readonly Program[], folder: string, options: BuildOptions): Promise<void> {
  const { progress, signal, environment = process.env } = options;
  const packages = programs.map((program) => program.goPackage);
  const workFolder = join(folder, '.go-work');
  mkdirSync(workFolder);
  const env = goEnvironment(environment, { cores: availableParallelism(), memoryBytes: totalmem() });
  // Gigabytes, which Go leaves behind when it is killed: here they go with the folder.
  env['GOTMPDIR'] = workFolder;
  const count = await countPackages(packages, env, options);
  const args = ['build', '-v', ...goFlags, '-o', join(folder, '/'), ...packages];
  const child = spawn('go', args, { cwd: moduleFolder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (child.pid !== undefined) options.onStart?.(child.pid);
  const meter = meterOf({ packages: count, programs: programs.length, now: options.now ?? Date.now });
  const show = (): void => progress.update(meter.line(linkedIn(folder)));
  const ticker = setInterval(show, 1_000);
  try {
    await ending(child, (line) => meter.take(line), signal);
  } finally {
    clearInterval(ticker);
  }
  for (const { goBinary, name } of programs) {
    if (goBinary !== name) renameSync(join(folder, goBinary), join(folder, name));
  }
  progress.say(`Built ${programs.map(({ name }) => name).join(', ')} in ${meter.time()}`);
}

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * Settings of the user that would change what is built are left out. The compilers run for moments each: collecting their
 * garbage before memory is short does not pay, and on few cores neither do threads in each (docs/decisions/0002).
 */
export function goEnvironment(environment: NodeJS.ProcessEnv, machine: Machine): NodeJS.ProcessEnv {
  const { GOOS: _os, GOARCH: _arch, GOFLAGS: _flags, ...rest } = environment;
  const { cores, memoryBytes } = machine;
  // One for each compiler at work, and two more for Go itself and all else.
  const share = Math.floor(memoryBytes / mebibyte / (cores + 2));
  return {
    GOGC: 'off',
    GOMEMLIMIT: `${Math.min(Math.max(share, 512), 3072)}MiB`,
    ...(cores <= fewCores ? { GOMAXPROCS: '1' } : {}),
    ...rest,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    GOFLAGS: `-mod=readonly -p=${cores}`,
  };
}

const mebibyte = 2 ** 20;
/** With more, the few big packages that all others wait for are compiled sooner by several threads. */
const fewCores = 4;

/** How many packages the programs consist of. The first call on a machine downloads the modules, and shows it. */
async function countPackages(
  packages: readonly string[],
  env: NodeJS.ProcessEnv,
  { progress, signal, onStart, now = Date.now }: BuildOptions,
): Promise<number> {
  const modules = modulesIn(readFileSync(join(moduleFolder, 'go.sum'), 'utf8'));
  const start = now();
  let downloaded = 0;
  let count = 0;
  const child = spawn('go', ['list', '-deps', ...packages], {
    cwd: moduleFolder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  createInterface({ input: child.stdout }).on('line', () => count++);
  await ending(
    child,
    (line) => {
      if (!line.startsWith('go: downloading ')) return false;
      progress.update(`Downloading Go modules: ${++downloaded} of ${modules}, ${elapsed(now() - start)}`);
      return true;
    },
    signal,
  );
  return count;
}

/** Modules whose content go.sum pins, and not only their go.mod. */
export function modulesIn(goSum: string): number {
  return goSum.split('\n').filter((line) => line !== '' && !line.includes('/go.mod ')).length;
}

/**
 * Waits for a run of Go. `take` gets each line of its standard error and tells whether it was progress; the others are
 * kept as its last words.
 */
async function ending(child: ChildProcess, take: (line: string) => boolean, signal?: AbortSignal): Promise<void> {
  const words: string[] = [];
  // SIGINT makes Go end in order: it waits for its compilers and removes its work folder.
  const stop = (): void => void child.kill('SIGINT');
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!take(line)) words.push(line);
    });
  }
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    signal?.throwIfAborted();
    if (code !== 0) throw new Error(`go failed (${code ?? 'killed'}): ${words.slice(-2).join(' | ')}`);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

export interface Meter {
  /** Takes a line of `go build -v`; whether it was a package. */
  take(line: string): boolean;
  /** `Building 8 programs: 812 of 2,341 packages compiled, 0 of 8 linked, 1:40`. */
  line(linked: number): string;
  time(): string;
}

/** Go says each package when it begins to compile it, and nothing of those it has compiled before. */
export function meterOf(known: { packages: number; programs: number; now: () => number }): Meter {
  const start = known.now();
  let compiled = 0;
  const time = (): string => elapsed(known.now() - start);
  return {
    time,
    take(line) {
      const isPackage = /^[\w.~-]+(\/[\w.~+-]+)*$/.test(line);
      if (isPackage) compiled++;
      return isPackage || line.startsWith('go: downloading ');
    },
    line(linked) {
      const packages = `${count(compiled)} of ${count(known.packages)} packages compiled`;
      const what = known.programs === 1 ? '1 program' : `${known.programs} programs`;
      return `Building ${what}: ${packages}, ${linked} of ${known.programs} linked, ${time()}`;
    },
  };
}

const count = (value: number): string => value.toLocaleString('en-US');

/** Go puts each binary in place when it is linked. */
function linkedIn(folder: string): number {
  return readdirSync(folder).filter((name) => !name.startsWith('.') && !name.endsWith('.json')).length;
}

function lastLine(error: unknown): string {
  return (error as Error).message.trim().split('\n').at(-1) ?? '';
}
