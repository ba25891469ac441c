/** Programs that are there already: KUBEBUILDER_ASSETS, then PATH. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

import type { Program } from './table.ts';
import { askVersion, fits, wordingOf } from './version.ts';

export interface Looked {
  /** Path of the first one that fits. */
  readonly path?: string;
  /** One sentence for each that was there and did not fit. */
  readonly skipped: readonly string[];
}

/** Looks through the folders in order; what does not fit is named and skipped. */
export async function lookUp(program: Program, folders: readonly string[]): Promise<Looked> {
  const skipped: string[] = [];
  for (const path of folders.map((folder) => join(folder, program.name)).filter(isExecutable)) {
    const problem = await problemOf(program, path);
    if (problem === undefined) return { path, skipped };
    skipped.push(`${path} ${problem}`);
  }
  return { skipped };
}

/** KUBEBUILDER_ASSETS first, then PATH, each folder once. */
export function searchPath(environment: NodeJS.ProcessEnv): readonly string[] {
  const folders = [environment['KUBEBUILDER_ASSETS'] ?? '', ...(environment['PATH'] ?? '').split(delimiter)];
  return [...new Set(folders.filter((folder) => isAbsolute(folder)).map(realPath))];
}

/** /bin is often a link to /usr/bin; what lies there is looked at once. */
function realPath(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder;
}

async function problemOf(program: Program, path: string): Promise<string | undefined> {
  const answer = await askVersion(program, path);
  if ('problem' in answer) return answer.problem;
  return fits(program, answer.version) ? undefined : `is ${answer.version}, ${wordingOf(program)} is needed`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us: either way it is not a program that can be used.
    return false;
  }
}
