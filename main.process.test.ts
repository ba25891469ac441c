import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from './charts/resource.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs the program as `cdk8s synth` does; gives its files by name. */
async function synth(env: Readonly<Record<string, string>> = {}): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-synth-'));
  folders.push(folder);
  const surroundings = { PATH: process.env['PATH'], CDK8S_OUTDIR: folder, ...env };
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'main.ts')], { env: surroundings });
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

const objectsIn = (text: string | undefined) =>
  parseAllDocuments(text ?? '').map((document) => document.toJS() as KubeObject);

describe('cdk8s synth', () => {
  test('writes a file for each step of the installation, in order', async () => {
    const files = await synth();
    expect([...files.keys()].sort()).toEqual(['0-definitions.k8s.yaml', '1-operator.k8s.yaml', '2-samples.k8s.yaml']);
    expect(objectsIn(files.get('0-definitions.k8s.yaml')).map(({ kind }) => kind)).toEqual([
      'Namespace',
      'CustomResourceDefinition',
    ]);
    expect(objectsIn(files.get('1-operator.k8s.yaml')).map(({ kind }) => kind)).toContain('Deployment');
    expect(objectsIn(files.get('2-samples.k8s.yaml')).map(({ metadata }) => metadata.name)).toEqual(['hello', 'docs']);
  }, 30_000);

  test('writes the same bytes in each run', async () => {
    const [first, second] = await Promise.all([synth(), synth()]);
    expect(first.size).toBe(3);
    expect(second).toEqual(first);
  }, 30_000);

  test('takes its options from the environment', async () => {
    const files = await synth({
      REPRISE_NAMESPACE: 'operators',
      REPRISE_WATCH_NAMESPACES: 'team-a',
      REPRISE_SAMPLES: 'false',
    });
    expect(files.size).toBe(2);
    const namespaces = objectsIn(files.get('1-operator.k8s.yaml')).map(({ metadata }) => metadata.namespace);
    expect(new Set(namespaces)).toEqual(new Set(['operators', 'team-a', undefined]));
  }, 30_000);

  test('tells what is wrong with an option by the name of its variable, and writes nothing', async () => {
    await expect(synth({ REPRISE_WATCH_NAMESPACES: 'Team A', REPRISE_LOG_LEVEL: 'loud' })).rejects.toMatchObject({
      code: 1,
      stderr:
        'these install options are not right:\n' +
        '  REPRISE_WATCH_NAMESPACES: expected names of namespaces separated by commas, or *; got "Team A"\n' +
        '  REPRISE_LOG_LEVEL: expected one of debug, info, warn, error; got "loud"\n',
    });
    expect(readdirSync(folders[0] ?? '')).toEqual([]);
  }, 30_000);
});
