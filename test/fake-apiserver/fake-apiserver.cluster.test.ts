/** Keeps the fake honest: the same short life of some objects on a real API server and on the fake one is told alike. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, kubeconfigConnection, type ClosableClient } from '../../operator/kube/connect.ts';
import { testApi } from '../api.ts';
import { connectTo } from './connect-to.ts';
import { FakeApiServer } from './fake-apiserver.ts';
import { Gizmo, gizmoDefinition, play } from './scenario.ts';

const api = testApi();
let real: ClosableClient;

beforeAll(async () => {
  await api.establish(gizmoDefinition);
  const connection = await kubeconfigConnection({ path: process.env['REPRISE_TEST_KUBECONFIG'] ?? '' });
  real = createClient({ connection, fieldManager: 'reprise' });
});

afterAll(() => {
  real.close();
  api.close();
});

test('the fake API server answers and tells as a real one does', async () => {
  const expected = await play(real, await api.namespace());
  await using server = await FakeApiServer.start({ types: [Gizmo] });
  server.state.compact(900);
  const fake = createClient({ connection: connectTo(server.url), fieldManager: 'reprise' });
  const played = await play(fake, 'shop');
  fake.close();
  expect(played).toEqual(expected);
  expect(expected.length).toBeGreaterThan(40);
});
