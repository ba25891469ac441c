import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../crds/index.ts';
import type { JsonSchema } from '../crds/json-schema.ts';
import { referenceFolder, referencePages } from './reference-pages.ts';

describe('the reference', () => {
  test('is what `npm run reference` would write now', async () => {
    const pages = await referencePages();
    expect([...pages.keys()].sort()).toEqual((await readdir(referenceFolder)).sort());
    for (const [name, text] of pages) expect(await readFile(join(referenceFolder, name), 'utf8')).toBe(text);
  });

  test.each(kinds)('says of every field of a $kind what it is', ({ spec, status }) => {
    expect([...undescribed(spec.json, 'spec'), ...undescribed(status.json, 'status')]).toEqual([]);
  });
});

/** Paths of the fields for which neither the page nor `kubectl explain` would say anything. */
function undescribed(schema: JsonSchema, path: string): readonly string[] {
  const inner = schema.items ?? schema.additionalProperties;
  if (inner) return undescribed(inner, path);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    ...(property.description === undefined ? [`${path}.${name}`] : []),
    ...undescribed(property, `${path}.${name}`),
  ]);
}
