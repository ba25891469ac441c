import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import { bodyOf, eventually, testApi } from '../../test/api.ts';
import { systemClock } from '../clock.ts';
import { createClient, kubeconfigConnection, type ClosableClient } from '../kube/connect.ts';
import { createLog } from '../log/create-log.ts';
import { createRecorder } from './api-recorder.ts';
import type { EventInput } from './recorder.ts';

interface StoredEvent extends KubeObject {
  readonly note: string;
  readonly series?: { readonly count: number };
}

const api = testApi();
let client: ClosableClient;
let namespace: string;
let regarding: KubeObject;
beforeAll(async () => {
  const connection = await kubeconfigConnection({ path: process.env['REPRISE_TEST_KUBECONFIG']! });
  client = createClient({ connection, fieldManager: 'reprise' });
  namespace = await api.namespace();
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } };
  regarding = bodyOf(await api.request<KubeObject>('POST', `/api/v1/namespaces/${namespace}/configmaps`, map));
});
afterAll(() => {
  client.close();
  api.close();
});

const input: EventInput = {
  type: 'Warning',
  reason: 'Conflict',
  action: 'Apply',
  note: 'Service settings is not ours',
};

/** The server refuses what it finds wrong, and the recorder says so in its log: here that fails the test. */
function recorderNow(complaints: string[]) {
  const log = createLog({ format: 'text', level: 'warn', write: (line) => complaints.push(line) });
  return createRecorder({ client, instance: 'reprise-7d-x', clock: systemClock, random: Math.random, log });
}

async function eventsOf(path: string, object: KubeObject): Promise<readonly StoredEvent[]> {
  const query = { fieldSelector: `${path}.uid=${object.metadata.uid ?? ''}` };
  const prefix = path === 'regarding' ? '/apis/events.k8s.io/v1' : '/api/v1';
  const list = await api.request<{ items: StoredEvent[] }>(
    'GET',
    `${prefix}/namespaces/${namespace}/events`,
    undefined,
    { query },
  );
  return bodyOf(list).items;
}

describe('events on a real API server', () => {
  test('are accepted, aggregated into a series, and flushed at the end', async () => {
    const complaints: string[] = [];
    const recorder = recorderNow(complaints);
    recorder.event(regarding, input);
    recorder.event(regarding, { ...input, type: 'Normal', reason: 'Applied', note: 'x'.repeat(5000) });
    const created = await eventually(
      () => eventsOf('regarding', regarding),
      (events) => events.length === 2,
    );
    for (let i = 0; i < 6; i++) recorder.event(regarding, input);
    await recorder.close(AbortSignal.timeout(10_000));

    const events = await eventsOf('regarding', regarding);
    expect(complaints).toEqual([]);
    expect(events.map(({ metadata }) => metadata.name).sort()).toEqual(
      created.map(({ metadata }) => metadata.name).sort(),
    );
    const conflict = events.find(({ type }) => type === 'Warning')!;
    expect(conflict).toMatchObject({
      note: 'Service settings is not ours',
      reason: 'Conflict',
      action: 'Apply',
      reportingController: 'reprise.dev/configmap',
      reportingInstance: 'reprise-7d-x',
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace },
      series: { count: 7 },
    });
    expect(Buffer.byteLength(events.find(({ type }) => type === 'Normal')!.note)).toBeLessThanOrEqual(1024);
  });

  test('are what kubectl reads through the core API', async () => {
    const recorder = recorderNow([]);
    const other = { ...regarding, metadata: { ...regarding.metadata, uid: 'ffffffff-0000-0000-0000-000000000001' } };
    recorder.event(other, input);
    await recorder.close(AbortSignal.timeout(10_000));
    const [event] = await eventsOf('involvedObject', other);
    expect(event).toMatchObject({
      reason: 'Conflict',
      message: 'Service settings is not ours',
      type: 'Warning',
      reportingComponent: 'reprise.dev/configmap',
      involvedObject: { kind: 'ConfigMap', name: 'settings' },
    });
  });

  test('whose Event has expired start a new one with the count so far', async () => {
    const complaints: string[] = [];
    const recorder = recorderNow(complaints);
    const other = { ...regarding, metadata: { ...regarding.metadata, uid: 'ffffffff-0000-0000-0000-000000000002' } };
    recorder.event(other, input);
    const [first] = await eventually(
      () => eventsOf('regarding', other),
      (events) => events.length === 1,
    );
    bodyOf(
      await api.request('DELETE', `/apis/events.k8s.io/v1/namespaces/${namespace}/events/${first!.metadata.name}`),
    );
    recorder.event(other, input);
    await recorder.close(AbortSignal.timeout(10_000));
    expect(complaints).toEqual([]);
    expect((await eventsOf('regarding', other)).map(({ series }) => series?.count)).toEqual([2]);
  });
});
