/** The reference pages of all kinds, by file name. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kinds } from '../crds/index.ts';
import type { Kind } from '../crds/kind.ts';
import { type Example, referenceOf } from '../crds/reference.ts';

const root = join(import.meta.dirname, '..');

/** Where the pages are. */
export const referenceFolder = join(root, 'docs', 'reference');

/** What docs/reference holds: a page for each kind, named after it. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const pages = kinds.map(
    async (kind) => [`${kind.kind.toLowerCase()}.md`, referenceOf(kind, await examplesOf(kind))] as const,
  );
  return new Map(await Promise.all(pages));
}

/** The samples of a kind, the shortest first: `minimal` says what must be written, `full` what can be. */
async function examplesOf(kind: Kind): Promise<readonly Example[]> {
  const folder = join(root, 'crds', kind.kind.toLowerCase(), 'samples');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  const examples = names.map(async (name) => ({
    title: titleOf(name),
    yaml: await readFile(join(folder, name), 'utf8'),
  }));
  return (await Promise.all(examples)).sort((one, other) => one.yaml.length - other.yaml.length);
}

const titleOf = (file: string): string => `Example: ${file.replace('.yaml', '')}`;
