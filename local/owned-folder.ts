/** Folders that name their owner, so that what an owner left behind when it died can be cleared away by anyone. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isAlive } from './owner.ts';
import type { Owner } from './owner.ts';

/** A process, or the user: such a folder stays until it is removed by name. */
export type FolderOwner = Owner | 'user';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const record = 'owner.json';

/** Makes a folder of a fresh name below `root`; its name starts with a dot and `prefix`. */
export function draftFolder(root: string, prefix: string, owner: FolderOwner): string {
  const folder = join(root, `.${prefix}-${randomBytes(6).toString('hex')}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, record), JSON.stringify(owner));
  return folder;
}

/** Gives the folder to another owner, at once: a reader sees the old one or the new one. */
export function setOwner(folder: string, owner: FolderOwner): void {
  const draft = join(folder, `${record}.new`);
  writeFileSync(draft, JSON.stringify(owner));
  renameSync(draft, join(folder, record));
}

/** Who owns the folder; `undefined` where there is no record or it cannot be read. */
export function ownerOf(folder: string): FolderOwner | undefined {
  return readJson(join(folder, record)) as FolderOwner | undefined;
}

/**
 * Whether nobody will come back for the folder. Owners of another boot, machine or container that shares it cannot be
 * asked from here: their folders are given a day.
 */
export function isAbandoned(folder: string, now: number): boolean {
  const owner = ownerOf(folder);
  if (owner === undefined) return ageOf(folder, now) > minuteMs;
  if (owner === 'user') return false;
  const alive = isAlive(owner);
  return alive === undefined ? ageOf(folder, now) > dayMs : !alive;
}

/** The value of a JSON file; `undefined` where there is none or it is not whole. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Names in a folder; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Removes a tree into which a program that is just ending may still write: so several tries. */
export function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

/** Milliseconds since the folder last changed; 0 when it is gone. */
export function ageOf(folder: string, now: number): number {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? 0 : now - stat.mtimeMs;
}
