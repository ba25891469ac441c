import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { definitionOf } from '../crds/kind.ts';
import { WebServer } from '../crds/webserver/index.ts';
import { testApi } from '../test/api.ts';
import { startOperator } from '../test/operator.ts';
import { WebServers } from '../test/web-servers.ts';

jest.setTimeout(60_000);

const root = join(import.meta.dirname, '..');
/** Below node_modules, because the test cluster is reached by a kubeconfig, and its loader is not in the bundle. */
const folder = join(root, `node_modules/.cache/reprise-bundle-${process.pid}`);
const api = testApi();
beforeAll(() => api.establish(definitionOf(WebServer)));
afterAll(() => {
  api.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the bundle renders, creates and reports as the sources do', async () => {
  const program = join(folder, 'main.mjs');
  await promisify(execFile)(process.execPath, [join(root, 'tools/bundle.ts'), program]);
  const webs = new WebServers(api, await api.namespace());
  await using operator = await startOperator({ namespaces: [webs.namespace], program });
  await webs.make('bundled', { replicas: 2 });
  await webs.ready('bundled', 2);
  expect(await operator.metric('reprise_writes_total', { verb: 'create' })).toBe(2);
  expect((await operator.stop()).code).toBe(0);
});
