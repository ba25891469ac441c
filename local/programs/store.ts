/**
 * The programs' place in the cache. Its name is made from what they are made of, so another version never meets this one;
 * a program is put there by rename when it is finished and checked, so what is there is whole.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { ageOf, draftFolder, isAbandoned, namesIn, readJson, removeTree } from '../owned-folder.ts';
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
  /**
   * Removes the drafts of processes that are gone, and ends what still works for them; removes programs of other versions
   * that nobody has used for a month.
   */
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
    if (!existsSync(path)) return undefined;
    // Marks the folder as used, see `sweep`.
    utimesSync(folder, new Date(), new Date());
    return path;
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
      for (const path of namesIn(root).map((name) => join(root, name))) {
        if (basename(path).startsWith('.draft-') && isAbandoned(path, now)) endDraft(path);
        if (isKey(basename(path)) && path !== folder && ageOf(path, now) > unusedMs) removeTree(path);
      }
    },
  };
}

const unusedMs = 30 * 24 * 60 * 60 * 1000;
const isKey = (name: string): boolean => /^[0-9a-f]{16}$/.test(name);

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
