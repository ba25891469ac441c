/**
 * One folder a cluster, below the cache: who owns it, kwokctl's work folder, the kubeconfig. A folder appears whole
 * (made beside, then renamed) and its removal is safe to interrupt: whoever sweeps next finishes it.
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';

import { draftFolder, isAbandoned, namesIn, removeTree, setOwner } from './owned-folder.ts';
import type { FolderOwner } from './owned-folder.ts';
import { thisProcess } from './owner.ts';
import { cacheRoot } from './paths.ts';
import { killAllFrom } from './processes.ts';

export const clustersRoot = (): string => join(cacheRoot(), 'clusters');
export const folderOf = (name: string): string => join(clustersRoot(), name);
/** Lock of those who start or stop the cluster by name. */
export const lockOf = (name: string): string => join(cacheRoot(), 'locks', name);
/** kwokctl's own folder of the cluster. */
export const kwokFolderOf = (name: string): string => join(folderOf(name), 'clusters', name);
export const binFolderOf = (name: string): string => join(kwokFolderOf(name), 'bin');

/** Whether a cluster may be called that: the name becomes part of paths, of a context and of etcd's keys. */
export function isClusterName(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name);
}

/** There is a cluster of that name. */
export class NameTaken extends Error {}

/** Makes the cluster's folder; throws NameTaken when there is one. */
export function claimFolder(name: string, owner: FolderOwner): string {
  if (!isClusterName(name)) throw new TypeError(`"${name}" is no name for a local cluster`);
  const draft = draftFolder(clustersRoot(), 'new', owner);
  try {
    renameSync(draft, folderOf(name));
  } catch (error) {
    removeTree(draft);
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    throw new NameTaken(`A local cluster named ${name} is there already: ${folderOf(name)}`, { cause: error });
  }
  return folderOf(name);
}

/** The cluster no longer ends with the process that started it. */
export function handToUser(name: string): void {
  setOwner(folderOf(name), 'user');
}

/** Ends every process of the cluster and removes its folder. Does nothing where there is no such cluster. */
export function removeCluster(name: string): void {
  killAllFrom(binFolderOf(name));
  const doomed = draftFolder(clustersRoot(), 'gone', thisProcess());
  try {
    renameSync(folderOf(name), join(doomed, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Again: one that was just being started at the first look shows now.
  killAllFrom(binFolderOf(name));
  removeTree(doomed);
}

/** Removes the clusters whose owner is gone, and what an interrupted start or removal left. Gives their names. */
export function sweep(now: number = Date.now()): readonly string[] {
  const dead = namesIn(clustersRoot()).filter((name) => isAbandoned(folderOf(name), now));
  for (const name of dead) removeCluster(name);
  return dead.filter((name) => !name.startsWith('.'));
}
