/** Builds what is missing; says in one line why it does not when it does not. */
import { join } from 'node:path';

import type { Progress } from '../progress.ts';
import { build, whyNotBuild } from './build.ts';
import type { Draft, Store } from './store.ts';
import { programs } from './table.ts';
import type { Platform, Program, ProgramName } from './table.ts';
import { askVersion } from './version.ts';

export interface BuildWork {
  readonly store: Store;
  readonly draft: Draft;
  readonly progress: Progress;
  readonly platform: Platform;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

/** Puts what it builds into the store. Gives the reason, in words, why it built nothing. */
export async function buildThem(names: readonly ProgramName[], work: BuildWork): Promise<string | undefined> {
  const { platform, environment, progress, draft, store, signal } = work;
  if (platform.os !== 'linux' && platform.os !== 'darwin') return `nothing can be built for ${platform.os}`;
  const reason = await whyNotBuild(environment);
  if (reason !== undefined) return reason;
  progress.say(`Building ${names.join(', ')} from Go modules; this is done once`);
  const wanted = names.map((name) => programs[name]);
  try {
    await build(wanted, draft.folder, {
      progress,
      environment,
      onStart: (pid) => draft.note(pid),
      ...(signal && { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    return `the build failed: ${(error as Error).message}`;
  }
  const problems = await Promise.all(wanted.map((program) => keepIfRight(program, draft, store)));
  return problems.find((problem) => problem !== undefined);
}

async function keepIfRight(program: Program, draft: Draft, store: Store): Promise<string | undefined> {
  const answer = await askVersion(program, join(draft.folder, program.name));
  const version = 'version' in answer ? answer.version : answer.problem;
  if (version !== program.version) return `the built ${program.name} says ${version}`;
  store.keep(draft, program.name);
  return undefined;
}
