/** docs/add-a-kind.md, followed to the letter on a copy of the sources: its files, its line, its sample on a real API server. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { bodyOf, eventually, testApi } from './api.ts';
import { startOperator } from './operator.ts';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/add-a-kind.md'), 'utf8');
const run = promisify(execFile);
const api = testApi();
let copy: string;

/** Each file of the page by its path: a heading that names it, then its block. */
const files = new Map(
  [...page.matchAll(/^## .*`(crds\/[^`]+)`\n(?:.*\n)*?```(?:ts|yaml)\n((?:.*\n)*?)```/gm)].map((match) => [
    match[1] ?? '',
    match[2] ?? '',
  ]),
);

/** Node with the copy as its working folder; gives what it prints. */
async function node(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd: copy });
  return stdout;
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'reprise-add-a-kind-'));
  for (const entry of ['charts', 'crds', 'imports', 'operator', 'main.ts', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, entry), join(copy, entry), { recursive: true, filter: (source) => !source.includes('.test.ts') });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, text] of files) {
    if (path === 'crds/index.ts') continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  const list = join(copy, 'crds/index.ts');
  const line = files.get('crds/index.ts')?.trim() ?? '';
  const imported = /`(import \{ Echo \}[^`]+)`/.exec(page)?.[1] ?? '';
  writeFileSync(list, `${imported}\n${readFileSync(list, 'utf8').replace(/^export const kinds.*$/m, line)}`);
});

afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
  api.close();
});

test('the page has every file of a kind', () => {
  expect([...files.keys()]).toEqual([
    'crds/echo/schema.ts',
    'crds/echo/children.ts',
    'crds/echo/observe.ts',
    'crds/echo/index.ts',
    'crds/echo/samples/minimal.yaml',
    'crds/index.ts',
  ]);
});

test('its files satisfy the strict compiler', async () => {
  const { stdout } = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', copy]);
  expect(stdout).toBe('');
}, 120_000);

test('its sample becomes ready, served by an operator that knows nothing else of the kind', async () => {
  const definitions = JSON.parse(
    await node(
      '--input-type=module',
      '-e',
      `import { kinds } from './crds/index.ts'; import { definitionOf } from './crds/kind.ts'; console.log(JSON.stringify(kinds.map(definitionOf)))`,
    ),
  ) as readonly { readonly metadata: { readonly name: string } }[];
  expect(definitions.map(({ metadata }) => metadata.name)).toContain('echoes.echo.example.com');
  for (const definition of definitions) await api.establish(definition);

  const namespace = await api.namespace();
  await using operator = await startOperator({
    namespaces: [namespace],
    program: join(copy, 'operator/main.ts'),
    flags: ['--kinds=Echo'],
  });
  await operator.ready();
  const echoes = `/apis/echo.example.com/v1/namespaces/${namespace}/echoes`;
  bodyOf(await api.request('POST', echoes, parse(files.get('crds/echo/samples/minimal.yaml') ?? '')));
  const ready = await eventually(
    () => api.request<{ readonly status?: { readonly readyReplicas?: number } }>('GET', `${echoes}/hello`),
    ({ body }) => body.status?.readyReplicas === 1,
    30_000,
  );
  expect(ready.body).toMatchObject({
    spec: { replicas: 1, text: 'hello' },
    status: {
      observedGeneration: 1,
      conditions: [
        { type: 'Available', status: 'True', message: '1 of 1 replicas are ready' },
        { type: 'Degraded', status: 'False' },
      ],
    },
  });
  const { body: deployment } = await api.request('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/hello`);
  expect(deployment).toMatchObject({
    spec: { template: { spec: { containers: [{ image: 'hashicorp/http-echo:1.0.0', args: ['-text=hello'] }] } } },
  });
}, 60_000);
