/** What a real API server makes of WebServers that users write. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import { bodyOf, testApi, type Answer, type TestApi } from '../../test/api.ts';
import { at } from '../../test/manifests.ts';
import { definitionOf } from '../kind.ts';
import { WebServer } from './index.ts';

let api: TestApi;
let collection: string;

beforeAll(async () => {
  api = testApi();
  await api.establish(definitionOf(WebServer));
  collection = `/apis/webserver.example.com/v1/namespaces/${await api.namespace()}/webservers`;
}, 60_000);

afterAll(() => {
  api.close();
});

const server = (spec: object, name = 'web') => ({
  apiVersion: 'webserver.example.com/v1',
  kind: 'WebServer',
  metadata: { name },
  spec,
});

const dryRun = { query: { dryRun: 'All', fieldValidation: 'Strict' } };

const tried = (object: object): Promise<Answer<KubeObject>> => api.request('POST', collection, object, dryRun);

const created = async (spec: object, name: string): Promise<KubeObject> =>
  bodyOf(await api.request<KubeObject>('POST', collection, server(spec, name)));

const patch = (path: string, body: object): Promise<Answer> =>
  api.request('PATCH', `${collection}/${path}`, body, { contentType: 'application/merge-patch+json' });

describe('a WebServer', () => {
  test('with nothing but replicas is nginx on port 80', async () => {
    const { body } = await tried(server({ replicas: 1 }));
    expect(body['spec']).toEqual({ replicas: 1, image: 'nginx:latest', port: 80 });
  });

  test('with every field is stored as written', async () => {
    const spec = {
      replicas: 10,
      image: 'example.com:5000/a/b@sha256:00',
      port: 65_535,
      runAsUser: 1,
      writablePaths: ['/a'],
    };
    expect((await tried(server(spec))).body['spec']).toEqual(spec);
  });

  test.each([
    ['no replicas', {}, 'spec.replicas: Required value'],
    ['0 replicas', { replicas: 0 }, 'spec.replicas in body should be greater than or equal to 1'],
    ['11 replicas', { replicas: 11 }, 'spec.replicas in body should be less than or equal to 10'],
    ['replicas in words', { replicas: 'two' }, 'spec.replicas in body must be of type integer'],
    ['port 0', { replicas: 1, port: 0 }, 'spec.port in body should be greater than or equal to 1'],
    ['port 65536', { replicas: 1, port: 65_536 }, 'spec.port in body should be less than or equal to 65535'],
    ['no image', { replicas: 1, image: '' }, 'spec.image in body should be at least 1 chars long'],
    ['root', { replicas: 1, runAsUser: 0 }, 'spec.runAsUser in body should be greater than or equal to 1'],
    ['/ as a writable path', { replicas: 1, writablePaths: ['/'] }, 'spec.writablePaths[0]'],
    ['one path twice', { replicas: 1, writablePaths: ['/a', '/a'] }, 'spec.writablePaths[1]: Duplicate value'],
    ['a field that does not exist', { replicas: 1, colour: 'blue' }, 'unknown field \\"spec.colour\\"'],
  ])('with %s is refused, and the answer names the field', async (_name, spec, message) => {
    const { status, body } = await tried(server(spec));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(JSON.stringify(body['message'])).toContain(message);
  });

  test.each(['9web', 'web.v1', 'a'.repeat(64)])('cannot be named %s, for its Service could not', async (name) => {
    const { status, body } = await tried(server({ replicas: 1 }, name));
    expect(status).toBe(422);
    expect(body['message']).toContain('the name is also the name of a Service');
  });

  test.each(['w', 'web-1', 'a'.repeat(63)])('can be named %s', async (name) => {
    expect((await tried(server({ replicas: 1 }, name))).status).toBe(201);
  });

  test('is scaled through its scale subresource, within the same bounds', async () => {
    await created({ replicas: 2 }, 'scaled');
    expect((await patch('scaled/scale', { spec: { replicas: 5 } })).status).toBe(200);
    expect(at((await api.request('GET', `${collection}/scaled`)).body, 'spec.replicas')).toBe(5);
    expect((await patch('scaled/scale', { spec: { replicas: 11 } })).status).toBe(422);
  });

  test('tells autoscalers what runs, and how to select it', async () => {
    await created({ replicas: 2 }, 'observed');
    const selector = 'app.kubernetes.io/name=webserver,app.kubernetes.io/instance=observed';
    bodyOf(await patch('observed/status', { status: { replicas: 2, selector } }));
    const { body } = await api.request('GET', `${collection}/observed/scale`);
    expect(body['spec']).toEqual({ replicas: 2 });
    expect(body['status']).toEqual({ replicas: 2, selector });
  });
});
