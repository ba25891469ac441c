/**
 * Runs the Pulumi program of this repository (index.ts, the very same) through the Automation API: the real CLI and engine, a
 * file backend in a folder of its own, the real provider where there is one.
 */
import { readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { LocalWorkspace, PulumiCommand } from '@pulumi/pulumi/automation/index.js';
import type { EngineEvent, OutputMap, ProjectSettings, Stack } from '@pulumi/pulumi/automation/index.js';
import { parse } from 'yaml';
import { connectionTo } from '../cli/cluster.ts';
import { parseInstallOptions } from '../crds/install-options.ts';
import { systemClock } from '../operator/clock.ts';
import { Interrupted } from './interrupt.ts';
import { silent } from './progress.ts';
import type { Progress } from './progress.ts';
import { Api } from './provider/api.ts';
import { serveProvider } from './provider/server.ts';
import type { ProviderServer } from './provider/server.ts';
import { EventTeller } from './pulumi-events.ts';
import { preparePulumiFolder } from './pulumi-folder.ts';
import type { PulumiFolder } from './pulumi-folder.ts';
import { findProvider } from './pulumi-provider.ts';
import type { ProviderChoice } from './pulumi-provider.ts';

/** Settings as in Pulumi.yaml, by their short names. */
export type PulumiSettings = Readonly<Record<string, string | number | boolean>>;

export interface PulumiOptions {
  /** Path of the pulumi CLI. */
  readonly cli: string;
  /** For state and settings; made when missing. The same folder is the same installation; one cluster each. */
  readonly folder: string;
  readonly settings: PulumiSettings;
  /** @default silent */
  readonly progress?: Progress;
  /** Ends the operation under way: the engine stops in good order and keeps what it did in its state. */
  readonly signal?: AbortSignal;
  /** `auto`: the real one wherever it can be had. @default auto */
  readonly provider?: 'auto' | 'stand-in';
}

/** Number of resources by what was done with them: `same`, `create`, `update`, `delete`, … Pulumi's own resources count too. */
export type Changes = Readonly<Record<string, number>>;

export interface DestroyOptions {
  /** Called with a line for each definition whose resources would go too; `false` leaves everything as it is. @default go on */
  readonly confirm?: (warnings: readonly string[]) => boolean | Promise<boolean>;
}

/** An operation failed. The message has one line for each problem. */
export class PulumiFailed extends Error {
  override readonly name = 'PulumiFailed';
}

/** The project of Pulumi.yaml. */
const project = 'reprise';
const stackName = 'local';
const answerMs = 10_000;
let runs = 0;

let isTold = false;

/** Once in a process: the session that removes what another one installed need not say it again. */
function tellOnce(why: string, progress: Progress | undefined): void {
  if (progress === undefined || isTold) return;
  isTold = true;
  progress.say(`Pulumi's Kubernetes provider is not at hand (${why}); a stand-in applies the same objects`);
}

/** index.ts runs when it is imported, so each run needs a fresh import. */
const program = async (): Promise<Record<string, unknown>> => {
  runs += 1;
  return { ...((await import(`../index.ts?run=${runs}`)) as Record<string, unknown>) };
};

export class PulumiSession implements AsyncDisposable {
  readonly #stack: Stack;
  readonly #progress: Progress;
  readonly #signal: AbortSignal | undefined;
  readonly #standIn: ProviderServer | undefined;
  #settings: PulumiSettings = {};

  private constructor(stack: Stack, options: PulumiOptions, standIn: ProviderServer | undefined) {
    this.#stack = stack;
    this.#progress = options.progress ?? silent;
    this.#signal = options.signal;
    this.#standIn = standIn;
  }

  /** Looks for the provider and opens the stack. Dispose of the session in the end; what it installed stays. */
  static async open(options: PulumiOptions): Promise<PulumiSession> {
    const choice: ProviderChoice =
      options.provider === 'stand-in' ? { kind: 'stand-in', why: 'it was asked for' } : await findProvider(options);
    const standIn = choice.kind === 'stand-in' ? await serveProvider() : undefined;
    if (choice.kind === 'stand-in') tellOnce(choice.why, options.progress);
    try {
      const folder = preparePulumiFolder(options.folder, options.cli);
      const stack = await openStack(folder, environmentOf({ folder, cli: options.cli, choice, standIn }));
      const session = new PulumiSession(stack, options, standIn);
      await session.configure(options.settings);
      return session;
    } catch (error) {
      await standIn?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Replaces all settings. Throws PulumiFailed when one is not right, in the words of the program, which would find it later. */
  async configure(settings: PulumiSettings): Promise<void> {
    validate(settings);
    this.#settings = settings;
    const { workspace } = this.#stack;
    const config = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`${project}:${key}`, String(value)]),
    );
    const stored = await workspace.stackSettings(stackName);
    // The salt of its secrets lives in the same file.
    await workspace.saveStackSettings(stackName, { ...stored, config });
  }

  /** Installs or changes. A preview goes first, so that what cannot work changes nothing. */
  async up(): Promise<Changes> {
    const plan = await this.#run('preview', silent, (options) => this.#stack.preview(options));
    const { result } = await this.#run('up', this.#progress, (options) => this.#stack.up(options), plan.teller.planned);
    return result.summary.resourceChanges ?? {};
  }

  /** What `up` would do. */
  async preview(): Promise<Changes> {
    return (await this.#run('preview', silent, (options) => this.#stack.preview(options))).result.changeSummary;
  }

  /** Compares the cluster with the state. `update` and `delete` in the result are drift; the next `up` repairs it. */
  async refresh(): Promise<Changes> {
    const { result } = await this.#run('refresh', silent, (options) => this.#stack.refresh(options));
    return result.summary.resourceChanges ?? {};
  }

  /** Removes what was installed and waits until it is gone. Gives undefined when `confirm` said no. */
  async destroy({ confirm = () => true }: DestroyOptions = {}): Promise<Changes | undefined> {
    const { teller } = await this.#run('destroy', silent, (options) =>
      this.#stack.destroy({ ...options, runProgram: true, previewOnly: true }),
    );
    for (const warning of teller.warnings) this.#progress.say(`Warning: ${warning}`);
    if (!(await confirm(teller.warnings))) return undefined;
    const destroy = (options: OperationOptions) => this.#stack.destroy({ ...options, runProgram: true });
    const { result } = await this.#run('destroy', this.#progress, destroy, teller.planned);
    return result.summary.resourceChanges ?? {};
  }

  /** The program's exports as of the last `up`. */
  async outputs(): Promise<Readonly<Record<string, unknown>>> {
    const outputs: OutputMap = await this.#stack.outputs();
    return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value as unknown]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#standIn?.[Symbol.asyncDispose]();
  }

  /** One operation of the engine, its mishaps told by the engine's own diagnostics. */
  async #run<Result>(
    name: string,
    progress: Progress,
    operate: (options: OperationOptions) => Promise<Result>,
    total = 0,
  ): Promise<{ readonly result: Result; readonly teller: EventTeller }> {
    this.#signal?.throwIfAborted();
    await checkCluster(this.#settings);
    const teller = new EventTeller(progress, total);
    const interruption = this.#interruption();
    try {
      const result = await operate({ onEvent: teller.handle, color: 'never', signal: interruption.signal });
      return { result, teller };
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw failure(name, teller.problems, error as Error);
    } finally {
      interruption[Symbol.dispose]();
    }
  }

  /**
   * The caller's signal, for the CLI. A Ctrl-C at the terminal reaches the CLI without us; it would take a second SIGINT as
   * the order to drop everything.
   */
  #interruption(): { readonly signal: AbortSignal } & Disposable {
    const controller = new AbortController();
    const abort = (): void => {
      this.#standIn?.cancel();
      const byTerminal = process.stdin.isTTY && this.#signal?.reason instanceof Interrupted;
      if (!byTerminal) controller.abort(this.#signal?.reason);
    };
    this.#signal?.addEventListener('abort', abort, { once: true });
    return { signal: controller.signal, [Symbol.dispose]: () => this.#signal?.removeEventListener('abort', abort) };
  }
}

interface OperationOptions {
  readonly onEvent: (event: EngineEvent) => void;
  readonly color: 'never';
  readonly signal: AbortSignal;
}

async function openStack(folder: PulumiFolder, envVars: Record<string, string>): Promise<Stack> {
  const pulumiCommand = await PulumiCommand.get({ root: folder.root, skipVersionCheck: true });
  return LocalWorkspace.createOrSelectStack(
    { stackName, projectName: project, program },
    { pulumiCommand, pulumiHome: folder.home, workDir: folder.work, projectSettings: projectSettings(folder), envVars },
  );
}

/** Pulumi.yaml, but for what an inline program and a backend of its own replace. */
function projectSettings({ backend }: PulumiFolder): ProjectSettings {
  const path = new URL('../Pulumi.yaml', import.meta.url);
  const { main: _main, ...settings } = parse(readFileSync(path, 'utf8')) as ProjectSettings;
  return { ...settings, runtime: 'nodejs', backend: { url: backend } };
}

/** The user's own Pulumi settings must not reach this stack, nor this stack theirs. */
function environmentOf({ folder, cli, choice, standIn }: Surroundings): Record<string, string> {
  const providers = choice.kind === 'real' ? [choice.folder] : [];
  const path = [...providers, dirname(resolve(cli)), process.env['PATH'] ?? ''].join(delimiter);
  return {
    PATH: path,
    PULUMI_BACKEND_URL: folder.backend,
    PULUMI_CONFIG_PASSPHRASE: '',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    ...(standIn && {
      PULUMI_DEBUG_PROVIDERS: `kubernetes:${standIn.port}`,
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    }),
  };
}

interface Surroundings {
  readonly folder: PulumiFolder;
  readonly cli: string;
  readonly choice: ProviderChoice;
  readonly standIn: ProviderServer | undefined;
}

function validate({ kubeconfig: _kubeconfig, context: _context, ...options }: PulumiSettings): void {
  try {
    parseInstallOptions(options, (option) => `${project}:${option}`);
  } catch (error) {
    throw new PulumiFailed((error as Error).message, { cause: error });
  }
}

/** Asked before each operation: the engine would repeat the same mishap for every resource. */
async function checkCluster({ kubeconfig, context }: PulumiSettings): Promise<void> {
  const choice = { kubeconfig: String(kubeconfig ?? ''), context: String(context ?? '') };
  try {
    using api = new Api({ connection: await connectionTo(choice), clock: systemClock, namespace: 'default' });
    await api.typeOf({ apiVersion: 'v1', kind: 'Namespace' }, AbortSignal.timeout(answerMs));
  } catch (error) {
    const isSilent = (error as Error).name === 'TimeoutError';
    const why = isSilent ? `the API server did not answer within ${answerMs / 1000} s` : (error as Error).message;
    throw new PulumiFailed(`the cluster cannot be used: ${why}`, { cause: error });
  }
}

/** The engine's problems say what happened; without any, what the CLI printed last. */
function failure(operation: string, problems: readonly string[], error: Error): PulumiFailed {
  const printed = error.message
    .split('\n')
    .filter((line) => line.startsWith('error:'))
    .map((line) => line.slice(6).trim());
  const lines = problems.length > 0 ? problems : printed.length > 0 ? printed : [error.message];
  return new PulumiFailed(`pulumi ${operation}: ${lines.join('\n')}`, { cause: error });
}
