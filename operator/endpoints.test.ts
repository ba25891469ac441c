import { describe, expect, test } from '@jest/globals';
import type { ResourceType } from '../charts/resource.ts';
import { FakeClock } from '../test/fake-clock.ts';
import type { ControllerHealth } from './controller/controller.ts';
import { serveEndpoints, type EndpointsProps } from './endpoints.ts';
import { createLog } from './log/create-log.ts';
import type { CacheHealth, WatchedCache } from './watch/cache.ts';

const local = { host: '127.0.0.1', port: 0 };
const pods: ResourceType = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' };

async function serving(given: { metricsBindAddress?: EndpointsProps['config']['metricsBindAddress'] } = {}) {
  const state = {
    cache: { synced: true, watching: true, lastActivityMs: 0, failures: 0 } as CacheHealth,
    controller: { hasSynced: true, waiting: 0, running: 0, stuck: [] } as ControllerHealth,
  };
  const cache = {
    type: pods,
    health: () => state.cache,
    get hasSynced() {
      return state.cache.synced;
    },
  } as Partial<WatchedCache>;
  const lines: string[] = [];
  const stop = new AbortController();
  const endpoints = await serveEndpoints({
    config: {
      healthProbeBindAddress: local,
      metricsBindAddress: 'metricsBindAddress' in given ? given.metricsBindAddress : local,
    },
    caches: [cache as WatchedCache],
    controllers: [{ name: 'webserver', health: () => state.controller }],
    metrics: { contentType: 'text/plain; version=0.0.4', exposition: () => Promise.resolve('up 1\n') },
    clock: new FakeClock(),
    log: createLog({ level: 'info', format: 'json', write: (line) => lines.push(line) }),
    stop: stop.signal,
  });
  const address = (what: string) =>
    lines
      .map((line) => JSON.parse(line) as { msg: string; address: string })
      .find(({ msg }) => msg === `serving ${what}`)?.address;
  const get = async (what: string, path: string) => {
    const answer = await fetch(`http://${address(what) ?? ''}${path}`);
    return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
  };
  return { state, stop, lines, get, [Symbol.asyncDispose]: () => endpoints[Symbol.asyncDispose]() };
}

describe('the endpoints', () => {
  test('are ready and healthy when all is well', async () => {
    await using operator = await serving();
    expect((await operator.get('probes', '/readyz?verbose')).body).toBe(
      '[+]synced-pods ok\n[+]shutdown ok\nreadyz check passed\n',
    );
    expect((await operator.get('probes', '/healthz?verbose')).body).toBe(
      '[+]ping ok\n[+]watch-pods ok\n[+]workers-webserver ok\nhealthz check passed\n',
    );
  });

  test('are not ready before the caches have synced, and say which and why', async () => {
    await using operator = await serving();
    operator.state.cache = { ...operator.state.cache, synced: false };
    expect((await operator.get('probes', '/readyz')).status).toBe(500);
    expect((await operator.get('probes', '/readyz/synced-pods')).body).toBe(
      'internal server error: the first list is not complete\n',
    );
    operator.state.cache = { ...operator.state.cache, synced: false, lastError: 'pods is forbidden' };
    expect((await operator.get('probes', '/readyz/synced-pods')).body).toBe(
      'internal server error: pods is forbidden\n',
    );
    expect((await operator.get('probes', '/healthz')).status).toBe(200);
  });

  test('are not ready any more once a watch has been refused for minutes, but healthy: a restart would not help', async () => {
    await using operator = await serving();
    const refused = { synced: true, watching: false, failures: 9, lastError: '429: too many requests' };
    operator.state.cache = { ...refused, lastActivityMs: 119_000 };
    expect((await operator.get('probes', '/readyz')).status).toBe(200);
    operator.state.cache = { ...refused, lastActivityMs: 121_000 };
    expect((await operator.get('probes', '/readyz/synced-pods')).body).toBe(
      'internal server error: nothing heard for 121 s: 429: too many requests\n',
    );
    expect((await operator.get('probes', '/healthz')).status).toBe(200);
  });

  test('are not ready any more while the operator stops, but healthy', async () => {
    await using operator = await serving();
    operator.stop.abort();
    expect((await operator.get('probes', '/readyz/shutdown')).status).toBe(500);
    expect((await operator.get('probes', '/healthz')).status).toBe(200);
  });

  test('are not healthy when a worker hangs, and do not say on what', async () => {
    await using operator = await serving();
    operator.state.controller = { ...operator.state.controller, stuck: ['shop/secret-name'] };
    const answer = await operator.get('probes', '/healthz/workers-webserver');
    expect(answer).toMatchObject({ status: 500, body: 'internal server error: 1 reconciles hang\n' });
  });

  test('serve metrics on an address of their own, under /metrics only', async () => {
    await using operator = await serving();
    expect(await operator.get('metrics', '/metrics')).toEqual({
      status: 200,
      type: 'text/plain; version=0.0.4',
      body: 'up 1\n',
    });
    expect((await operator.get('metrics', '/healthz')).status).toBe(404);
    expect((await operator.get('probes', '/metrics')).status).toBe(404);
  });

  test('serve nothing where no address is given', async () => {
    await using operator = await serving({ metricsBindAddress: undefined });
    expect(operator.lines).toHaveLength(1);
  });

  test('close the first address when the second is taken', async () => {
    await using first = await serving();
    const metrics = first.lines.map((line) => JSON.parse(line) as { address: string })[1]!.address;
    const port = Number(metrics.split(':')[1]);
    await expect(serving({ metricsBindAddress: { host: '127.0.0.1', port } })).rejects.toThrow(
      'the port is taken; choose another with --metrics-bind-address',
    );
  });
});
