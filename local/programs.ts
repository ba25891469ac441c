/**
 * Finds the programs of the local control plane, in this order: KUBEBUILDER_ASSETS and PATH · the cache · the official
 * release · a build from the Go modules. Which programs and versions: programs/table.ts.
 */
import type { Progress } from './progress.ts';
import { silent } from './progress.ts';
import { buildThem } from './programs/build-them.ts';
import { downloadThem } from './programs/download-them.ts';
import { withLock } from './lock.ts';
import { lookUp, searchPath } from './programs/lookup.ts';
import { storeOf } from './programs/store.ts';
import type { Store } from './programs/store.ts';
import { officialHosts, programs } from './programs/table.ts';
import type { ClusterProgram, Hosts, Platform, ProgramName } from './programs/table.ts';

export { clusterPrograms } from './programs/table.ts';

/** Path of each program that runs a cluster. */
export type Programs = Readonly<Record<ClusterProgram, string>>;

export interface FindOptions {
  /** @default silent */
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
  /** @default the environment of this process */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where releases are downloaded from. @default the official hosts */
  readonly hosts?: Hosts;
  /** @default this machine */
  readonly platform?: Platform;
}

/** No way gave all programs; the message names each way and why it failed. */
export class ProgramsMissing extends Error {}

/**
 * Gives the path of each program. Downloads and builds are made by one process at a time and leave nothing half-made.
 * @throws ProgramsMissing when no way gives them
 */
export async function findPrograms<Name extends ProgramName>(
  names: readonly Name[],
  options: FindOptions = {},
): Promise<Readonly<Record<Name, string>>> {
  const { environment = process.env, progress = silent, signal } = options;
  const store = storeOf(environment);
  const { found, skipped } = await lookAround(names, environment, store);
  store.sweep();
  for (const line of skipped) progress.say(`Skipped: ${line}`);
  if (found.size < names.length) {
    const lock = { what: 'gets the programs', progress, ...(signal && { signal }) };
    await withLock(store.lock, lock, (shared) => getMissing(names, found, { ...options, progress: shared, store }));
  }
  return Object.fromEntries(found) as Record<Name, string>;
}

type Paths = Map<ProgramName, string>;

/** What is there already: in the folders of the user, then in the cache. */
async function lookAround(
  names: readonly ProgramName[],
  environment: NodeJS.ProcessEnv,
  store: Store,
): Promise<{ found: Paths; skipped: readonly string[] }> {
  const folders = searchPath(environment);
  const looked = await Promise.all(names.map((name) => lookUp(programs[name], folders)));
  const found: Paths = new Map();
  for (const [index, name] of names.entries()) {
    const path = looked[index]?.path ?? store.find(name);
    if (path !== undefined) found.set(name, path);
  }
  return { found, skipped: looked.flatMap((one) => one.skipped) };
}

/** What is not: downloaded, or else built. Runs under the lock. */
async function getMissing(
  names: readonly ProgramName[],
  found: Paths,
  options: FindOptions & { readonly store: Store; readonly progress: Progress },
): Promise<void> {
  const { store, progress, platform = thisMachine(), hosts = officialHosts, signal } = options;
  // While this process waited, another one may have made them.
  const adopt = (): void => {
    for (const name of names) {
      const path = store.find(name);
      if (!found.has(name) && path !== undefined) found.set(name, path);
    }
  };
  const missing = (): readonly ProgramName[] => names.filter((name) => !found.has(name));
  adopt();
  if (missing().length === 0) return;
  using draft = store.draft();
  const work = { store, draft, progress, ...(signal && { signal }) };
  const problems = [await downloadThem(missing(), { ...work, platform, hosts })];
  adopt();
  if (missing().length > 0) {
    problems.push(await buildThem(missing(), { ...work, platform, environment: options.environment ?? process.env }));
    adopt();
  }
  if (missing().length > 0) throw new ProgramsMissing(noWay(missing(), problems.filter(isText)));
}

function noWay(names: readonly ProgramName[], problems: readonly string[]): string {
  const wanted = names.map((name) => `${name} ${programs[name].version}`).join(', ');
  const ways = [
    'install Go 1.26 or newer (it builds them once, in about 10 minutes on two cores)',
    'let this machine reach dl.k8s.io and github.com',
    'set KUBEBUILDER_ASSETS to a folder that holds them, or put them on PATH',
    'or use a cluster that you have, with --context NAME',
  ];
  return `Cannot get ${wanted} (${problems.join('; ')}). Do one of these: ${ways.join('; ')}.`;
}

function thisMachine(): Platform {
  return { os: process.platform, cpu: process.arch };
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}
