import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import { FakeClock } from '../../test/fake-clock.ts';
import type { Client } from '../kube/client.ts';
import { ApiError, ConnectionError } from '../kube/errors.ts';
import { createRecorder, type ApiRecorder } from './api-recorder.ts';
import type { EventInput } from './recorder.ts';

const web: KubeObject = {
  apiVersion: 'webserver.example.com/v1',
  kind: 'WebServer',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1' },
};
const input: EventInput = { type: 'Normal', reason: 'Applied', action: 'Apply', note: 'made 2 objects' };
const minute = 60_000;

/** Lets every promise that can go on do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Turns the clock in small steps, so that what a timer sets off is done before the next one. */
async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await settled();
    clock.advance(1000);
  }
  await settled();
}

interface Call {
  readonly verb: 'create' | 'patch';
  readonly name: string;
  readonly count: number | undefined;
}

/** Remembers what arrives; the test says what goes wrong. */
class FakeClient implements Pick<Client, 'create' | 'jsonPatch'> {
  readonly calls: Call[] = [];
  readonly failures: unknown[] = [];
  isHanging = false;

  create: Client['create'] = async (_, object, signal) => {
    this.calls.push({
      verb: 'create',
      name: object.metadata.name,
      count: (object['series'] as { count?: number } | undefined)?.count,
    });
    return this.#answer(object, signal);
  };

  jsonPatch: Client['jsonPatch'] = async (_, ref, [operation], signal) => {
    const value = operation?.op === 'add' ? (operation.value as { count: number }) : undefined;
    this.calls.push({ verb: 'patch', name: ref.name, count: value?.count });
    return this.#answer(web, signal);
  };

  async #answer(object: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    if (this.isHanging)
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure as Error;
    return Promise.resolve(object);
  }
}

const refusal = (status: number, reason: string, causes: string[] = []) =>
  new ApiError({
    status,
    reason,
    message: reason,
    details: { name: 'web', causes: causes.map((cause) => ({ reason: cause })) },
  });

let clock: FakeClock;
let client: FakeClient;
let complaints: string[];
let recorder: ApiRecorder;
beforeEach(() => {
  clock = new FakeClock();
  client = new FakeClient();
  complaints = [];
  const log = { error: (message: string, error: unknown) => complaints.push(`${message}: ${String(error)}`) };
  recorder = createRecorder({ client, instance: 'pod', clock, random: () => 0.5, log: log as never });
});

const summary = () => client.calls.map(({ verb, count }) => (count === undefined ? verb : `${verb} ${count}`));

describe('the recorder', () => {
  test('returns at once and writes behind the back of the reconcile', async () => {
    recorder.event(web, input);
    await settled();
    expect(summary()).toEqual(['create']);
  });

  test('writes a repeated event as one Event and a count', async () => {
    recorder.event(web, input);
    await settled();
    for (let i = 0; i < 9; i++) recorder.event(web, input);
    await advance(20 * minute);
    expect(summary()).toEqual(['create', 'patch 2', 'patch 10']);
    expect(new Set(client.calls.map((call) => call.name)).size).toBe(1);
  });

  test('creates an Event with its series when it was repeated before it could be written', async () => {
    client.failures.push(new ConnectionError('refused', 'ECONNREFUSED'));
    recorder.event({ ...web, metadata: { ...web.metadata, name: 'other', uid: 'u-2' } }, input);
    recorder.event(web, input);
    recorder.event(web, input);
    await advance(minute);
    expect(summary()).toEqual(['create', 'create', 'create 2']);
  });

  test('sleeps when there is nothing to watch over', async () => {
    expect(clock.waits.length).toBe(0);
    recorder.event(web, input);
    await advance(10 * minute);
    expect(clock.waits.length).toBe(0);
  });

  test('creates the Event anew when it expired under its series', async () => {
    recorder.event(web, input);
    await settled();
    client.failures.push(refusal(404, 'NotFound'));
    recorder.event(web, input);
    await settled();
    expect(summary()).toEqual(['create', 'patch 2', 'create 2']);
  });

  test('tries again while the server cannot be reached, and repeats nothing that came through', async () => {
    client.failures.push(
      new ConnectionError('refused', 'ECONNREFUSED'),
      refusal(503, 'ServiceUnavailable'),
      refusal(409, 'AlreadyExists'),
    );
    recorder.event(web, input);
    await advance(minute);
    expect(summary()).toEqual(['create', 'create', 'create']);
    expect(complaints).toEqual([]);
  });

  test('gives an event up after two minutes, and says so once a minute at most', async () => {
    client.failures.push(...Array.from({ length: 24 }, () => new ConnectionError('refused', 'ECONNREFUSED')));
    recorder.event(web, input);
    recorder.event(web, { ...input, note: 'another' });
    await advance(5 * minute);
    expect(client.calls).toHaveLength(24);
    expect(complaints).toEqual([
      'events could not be written: ConnectionError: refused',
      'events could not be written: ConnectionError: refused',
    ]);
  });

  test('does not insist when it is refused', async () => {
    client.failures.push(refusal(403, 'Forbidden'), refusal(422, 'Invalid'));
    recorder.event(web, input);
    recorder.event(web, { ...input, note: 'another' });
    await advance(minute);
    expect(summary()).toEqual(['create', 'create']);
    expect(complaints).toEqual(['events could not be written: ApiError: Forbidden']);
  });

  test('is silent about namespaces that are being deleted', async () => {
    client.failures.push(refusal(403, 'Forbidden', ['NamespaceTerminating']));
    recorder.event(web, input);
    await settled();
    expect(complaints).toEqual([]);
  });

  test('does not fill the memory while the server is away', async () => {
    client.isHanging = true;
    for (let i = 0; i < 3000; i++)
      recorder.event({ ...web, metadata: { ...web.metadata, uid: `u${i}`, name: `w${i}` } }, input);
    await settled();
    expect(complaints).toEqual(['events could not be written: Error: too many events are waiting']);
  });

  test('writes the counts it still has when it is closed, then takes no more', async () => {
    recorder.event(web, input);
    await settled();
    for (let i = 0; i < 4; i++) recorder.event(web, input);
    await recorder.close(new AbortController().signal);
    recorder.event(web, { ...input, note: 'too late' });
    await settled();
    expect(summary()).toEqual(['create', 'patch 2', 'patch 5']);
    expect(clock.waits.length).toBe(0);
  });

  test('closes in time although the server hangs', async () => {
    client.isHanging = true;
    recorder.event(web, input);
    recorder.event(web, { ...input, note: 'another' });
    const deadline = new AbortController();
    const closing = recorder.close(deadline.signal);
    await settled();
    deadline.abort(new Error('time is up'));
    await closing;
    expect(summary()).toEqual(['create']);
  });

  test('closes in time although the server is away', async () => {
    client.failures.push(...Array.from({ length: 50 }, () => new ConnectionError('refused', 'ECONNREFUSED')));
    recorder.event(web, input);
    await settled();
    const deadline = new AbortController();
    const closing = recorder.close(deadline.signal);
    deadline.abort(new Error('time is up'));
    await closing;
    expect(clock.waits.length).toBe(0);
  });
});
