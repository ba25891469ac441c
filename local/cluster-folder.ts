/**
 * One folder a cluster, below the cache: who owns it, kwokctl's work folder, the kubeconfig. A folder appears whole
 * (made beside, then renamed) and its removal is safe to interrupt: whoever sweeps next finishes it.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isAlive, thisProcess } from './owner.ts';
import type { Owner } from './owner.ts';
import { cacheRoot } from './paths.ts';
import { killAllFrom } from './processes.ts';

/** A process, or the user: such a cluster stays until it is stopped by name. */
export type ClusterOwner = Owner | 'user';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const clustersRoot = (): string => join(cacheRoot(), 'clusters');
export const folderOf = (name: string): string => join(clustersRoot(), name);
/** kwokctl's own folder of the cluster. */
export const kwokFolderOf = (name: string): string => join(folderOf(name), 'clusters', name);
export const binFolderOf = (name: string): string => join(kwokFolderOf(name), 'bin');

/** Makes the cluster's folder; throws when that name is taken. */
export function claimFolder(name: string, owner: ClusterOwner): string {
  const draft = join(clustersRoot(), `.new-${randomBytes(6).toString('hex')}`);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeFileSync(join(draft, 'owner.json'), JSON.stringify(owner));
  try {
    renameSync(draft, folderOf(name));
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    throw new Error(`A local cluster named ${name} is there already: ${folderOf(name)}`, { cause: error });
  }
  return folderOf(name);
}

/** Ends every process of the cluster and removes its folder. Does nothing where there is no such cluster. */
export function removeCluster(name: string): void {
  // Twice: a process that was being started at the first look shows at the second.
  killAllFrom(binFolderOf(name));
  const doomed = join(clustersRoot(), `.gone-${randomBytes(6).toString('hex')}`);
  try {
    renameSync(folderOf(name), doomed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  killAllFrom(binFolderOf(name));
  removeTree(doomed);
}

/** Removes the clusters whose owner is gone, and what an interrupted removal left. Gives their names. */
export function sweep(now: number = Date.now()): readonly string[] {
  const dead = entries().filter((name) => isDead(name, now));
  for (const name of dead) {
    if (name.startsWith('.')) removeTree(folderOf(name));
    else removeCluster(name);
  }
  return dead.filter((name) => !name.startsWith('.'));
}

/** Who owns the cluster; `undefined` where there is none of that name or its record cannot be read. */
export function ownerOf(name: string): ClusterOwner | undefined {
  try {
    return JSON.parse(readFileSync(join(folderOf(name), 'owner.json'), 'utf8')) as ClusterOwner;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isDead(name: string, now: number): boolean {
  const owner = ownerOf(name);
  if (owner === undefined) return ageOf(name, now) > minuteMs;
  if (owner === 'user') return name.startsWith('.') && ageOf(name, now) > minuteMs;
  const alive = isAlive(owner);
  // Of another boot, machine or container that shares this folder: nobody can tell, so it is given a day.
  return alive === undefined ? ageOf(name, now) > dayMs : !alive;
}

function ageOf(name: string, now: number): number {
  const stat = statSync(folderOf(name), { throwIfNoEntry: false });
  return stat === undefined ? 0 : now - stat.mtimeMs;
}

function entries(): readonly string[] {
  try {
    return readdirSync(clustersRoot());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A program that is just ending may still write into the tree: so several tries. */
function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

/** The owner to write down for a cluster of this process. */
export const ownedByThisProcess = (): ClusterOwner => thisProcess();
