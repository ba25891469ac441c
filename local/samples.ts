/** The samples of every kind, as files below crds/. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../charts/resource.ts';

const root = join(import.meta.dirname, '..');

/** All sample objects, in the order of their files; those without a namespace get the given one. */
export function samples(namespace: string): KubeObject[] {
  return globSync('crds/*/samples/*.yaml', { cwd: root })
    .sort()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(root, file), 'utf8')).map((each) => each.toJS() as KubeObject),
    )
    .map((object) => ({ ...object, metadata: { namespace, ...object.metadata } }));
}
