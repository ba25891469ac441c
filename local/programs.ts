/** Finds the programs of the local control plane. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { Progress } from './progress.ts';

export const clusterPrograms = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kwok',
  'kwokctl',
] as const;

export type ClusterProgram = (typeof clusterPrograms)[number];
export type ProgramName = ClusterProgram | 'pulumi';
/** Path of each program that runs a cluster. */
export type Programs = Readonly<Record<ClusterProgram, string>>;

export interface FindOptions {
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** Gives the path of each program. */
export function findPrograms<Name extends ProgramName>(
  names: readonly Name[],
  _options: FindOptions = {},
): Promise<Readonly<Record<Name, string>>> {
  const folders = [process.env['KUBEBUILDER_ASSETS'] ?? '/tmp/assets', ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = names.map((name) => [name, folders.map((folder) => join(folder, name)).find(isExecutable)] as const);
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name);
  if (missing.length > 0) return Promise.reject(new Error(`Not found: ${missing.join(', ')}`));
  return Promise.resolve(Object.fromEntries(found) as Record<Name, string>);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
