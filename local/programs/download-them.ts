/** Downloads what is missing; says in one line why it does not when it does not. */
import { join } from 'node:path';

import { elapsed } from '../progress.ts';
import type { Progress } from '../progress.ts';
import { download, DownloadFailed } from './download.ts';
import type { Draft, Store } from './store.ts';
import { programs } from './table.ts';
import type { Architecture, Hosts, Platform, Program, ProgramName } from './table.ts';
import { askVersion } from './version.ts';

export interface DownloadWork {
  readonly store: Store;
  readonly draft: Draft;
  readonly progress: Progress;
  readonly platform: Platform;
  readonly hosts: Hosts;
  readonly signal?: AbortSignal;
}

/** Puts what it gets into the store. Gives the reason, in words, why it did not get all. */
export async function downloadThem(names: readonly ProgramName[], work: DownloadWork): Promise<string | undefined> {
  const { platform, progress } = work;
  const architecture = architectureOf(platform);
  if (architecture === undefined) return `there are no releases for ${platform.os} on ${platform.cpu}`;
  const unreachable = new Set<string>();
  const problems = new Set<string>();
  for (const [index, name] of names.entries()) {
    const program = programs[name];
    const host = new URL(program.release(architecture, work.hosts).url).host;
    if (unreachable.has(host)) continue;
    const problem = await tryOne(program, architecture, `${index + 1} of ${names.length}`, work);
    if (problem === undefined) continue;
    problems.add(problem.message);
    if (problem.unreachable) unreachable.add(host);
  }
  if (problems.size === 0) return undefined;
  const reason = [...problems].join('; ');
  progress.say(`Not downloaded: ${reason}`);
  return reason;
}

async function tryOne(
  program: Program,
  architecture: Architecture,
  position: string,
  work: DownloadWork,
): Promise<DownloadFailed | undefined> {
  const { progress, draft, store, signal } = work;
  const start = Date.now();
  const release = program.release(architecture, work.hosts);
  const target = join(draft.folder, program.name);
  const onBytes = (received: number, total: number | undefined): void =>
    progress.update(
      `Downloading ${program.name} ${program.version} (${position}): ${megabytes(received, total)}, ${elapsed(Date.now() - start)}`,
    );
  try {
    await download(release, target, { onBytes, ...(signal && { signal }) });
    const answer = await askVersion(program, target);
    if (!('version' in answer)) throw new DownloadFailed(release.url, `the program ${answer.problem}`);
    store.keep(draft, program.name);
    progress.say(`Downloaded ${program.name} ${program.version} (${position}), SHA-256 checked`);
    return undefined;
  } catch (error) {
    if (error instanceof DownloadFailed) return error;
    throw error;
  }
}

function architectureOf({ os, cpu }: Platform): Architecture | undefined {
  return os === 'linux' && (cpu === 'x64' || cpu === 'arm64') ? cpu : undefined;
}

function megabytes(received: number, total: number | undefined): string {
  const inMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(0);
  return total === undefined ? `${inMegabytes(received)} MB` : `${inMegabytes(received)} of ${inMegabytes(total)} MB`;
}
