/**
 * The programs' place in the cache. Its name is made from what they are made of, so another version never meets this one;
 * a program is put there by rename when it is finished and checked, so what is there is whole.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { draftFolder, isAbandoned, namesIn, readJson, removeTree } from '../owned-folder.ts';
import { isAlive, startOf, thisProcess } from '../owner.ts';
import type { Owner } from '../owner.ts';
import { cacheRoot } from '../paths.ts';
import { moduleFolder } from './build.ts';
import { goFlags, programs } from './table.ts';
import type { ProgramName } from './table.ts';

export interface Store {
  /** Where finished programs lie. */
  readonly folder: string;
  /** The lock of those who fill it. */
  readonly lock: string;
  /** Path of a finished program. */
  find(name: ProgramName): string | undefined;
  /** A folder to work in; gone when disposed of, and swept by others if this process cannot. */
  draft(): Draft;
  /** Puts a finished program in place; gives its path. */
  keep(draft: Draft, name: ProgramName): string;
  /** Removes the drafts of processes that are gone, and ends what still works for them. */
  sweep(now?: number): void;
}

export interface Draft extends Disposable {
  readonly folder: string;
  /** Notes a process that works in the folder, so that it can be ended when this one is killed. */
  note(pid: number): void;
}

/** The store of these versions on this machine. */
export function storeOf(environment: NodeJS.ProcessEnv = process.env): Store {
  const root = join(cacheRoot(environment), 'programs');
  const folder = join(root, contentKey());
  const find = (name: ProgramName): string | undefined => {
    const path = join(folder, name);
    return existsSync(path) ? path : undefined;
  };
  return {
    folder,
    lock: join(root, 'lock'),
    find,
    draft: () => draftIn(root),
    keep(draft, name) {
      mkdirSync(folder, { recursive: true });
      renameSync(join(draft.folder, name), join(folder, name));
      return join(folder, name);
    },
    sweep(now = Date.now()) {
      const drafts = namesIn(root).filter((name) => name.startsWith('.draft-'));
      for (const name of drafts) if (isAbandoned(join(root, name), now)) endDraft(join(root, name));
    },
  };
}

/** What the programs are made of: versions, flags, modules, platform. */
function contentKey(): string {
  const hash = createHash('sha256');
  const versions = Object.values(programs).map(({ name, version }) => `${name} ${version}`);
  hash.update(JSON.stringify([versions, goFlags, process.platform, process.arch]));
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(moduleFolder, file)));
  return hash.digest('hex').slice(0, 16);
}

const workerFile = 'worker.json';

function draftIn(root: string): Draft {
  const folder = draftFolder(root, 'draft', thisProcess());
  return {
    folder,
    note(pid) {
      const worker: Owner = { ...thisProcess(), pid, started: startOf(pid) ?? 'ended' };
      writeFileSync(join(folder, workerFile), JSON.stringify(worker));
    },
    [Symbol.dispose]: () => removeTree(folder),
  };
}

function endDraft(folder: string): void {
  const worker = readJson(join(folder, workerFile)) as Owner | undefined;
  if (worker !== undefined && isAlive(worker) === true) process.kill(worker.pid, 'SIGINT');
  removeTree(folder);
}
