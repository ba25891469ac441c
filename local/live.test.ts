import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../charts/resource.ts';
import { rowOf, rowsAsTable } from './live.ts';
import type { Live, Row } from './live.ts';
import { NotReady, Screen, untilReady } from './show.ts';

const created = '2026-01-01T00:00:00Z';

function resource(status?: object): KubeObject {
  return {
    apiVersion: 'webserver.example.com/v1',
    kind: 'WebServer',
    metadata: { name: 'site', generation: 2, creationTimestamp: created },
    ...(status !== undefined && { status }),
  };
}
const available = { type: 'Available', status: 'True', reason: 'A', message: '3 of 3' };
const degraded = { type: 'Degraded', status: 'True', reason: 'Conflict', message: 'somebody else has it' };

describe('a row', () => {
  test('is ready when Available holds for the present generation', () => {
    const row = rowOf(resource({ observedGeneration: 2, conditions: [available] }));
    expect(row).toEqual({
      kind: 'WebServer',
      name: 'site',
      ready: true,
      message: '3 of 3',
      created: Date.parse(created),
    });
  });
  test('is not ready when the status speaks of an older generation', () => {
    expect(rowOf(resource({ observedGeneration: 1, conditions: [available] })).ready).toBe(false);
  });
  test('is not ready while degraded, and says why', () => {
    const row = rowOf(resource({ observedGeneration: 2, conditions: [available, degraded] }));
    expect(row).toMatchObject({ ready: false, message: 'somebody else has it' });
  });
  test('without a status says that nobody has looked', () => {
    expect(rowOf(resource())).toMatchObject({ ready: false, message: 'not seen by the operator yet' });
  });
});

const row = (name: string, ready: boolean): Row => ({ kind: 'WebServer', name, ready, message: 'm', created: 0 });

function screenOn(isTTY: boolean): { readonly screen: Screen; readonly written: string[] } {
  const written: string[] = [];
  return { screen: new Screen({ isTTY, write: (text) => written.push(text) }, () => 5000), written };
}

describe('the screen', () => {
  test('prints only what changed where it is no terminal', () => {
    const { screen, written } = screenOn(false);
    screen.show([row('a', false), row('b', false)]);
    screen.show([row('a', false), row('b', true)]);
    expect(written).toEqual([
      'KIND        NAME   READY   AGE   MESSAGE\n',
      'WebServer   a      False   5s    m\n',
      'WebServer   b      False   5s    m\n',
      'WebServer   b      True    5s    m\n',
    ]);
  });
  test('writes over the former table on a terminal', () => {
    const { screen, written } = screenOn(true);
    screen.show([row('a', false)]);
    screen.show([row('a', true)]);
    expect(written[1]).toMatch(/^\u001b\[2A/);
  });
  test('shows nothing while there is nothing', () => {
    const { screen, written } = screenOn(false);
    screen.show([]);
    expect(written).toEqual([]);
  });
  test('has the columns of a table', () => {
    expect(rowsAsTable([], 0)).toEqual(['KIND   NAME   READY   AGE   MESSAGE']);
  });
});

describe('waiting for the samples', () => {
  const never = new AbortController().signal;
  const running = { ended: new Promise<never>(() => undefined) };
  const liveOf = (...states: (readonly Row[])[]): Live => {
    let current = 0;
    return {
      rows: () => states[current] ?? [],
      changed: async (signal) => {
        if (current < states.length - 1) current += 1;
        else await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    };
  };
  const applied = ['a', 'b'].map((name) => ({ ...resource(), metadata: { name } }));

  test('ends when all of them are ready', async () => {
    const live = liveOf([], [row('a', true), row('b', false)], [row('a', true), row('b', true), row('other', false)]);
    await expect(untilReady({ live, operator: running, ...screenOn(false) }, applied, 60_000, never)).resolves.toBe(
      undefined,
    );
  });
  test('names those that are not when the time is over', async () => {
    const live = liveOf([row('a', false)]);
    const waiting = untilReady({ live, operator: running, ...screenOn(false) }, applied, 1, never);
    await expect(waiting).rejects.toThrow(
      new NotReady('not ready after 0.001 s: WebServer/a: m; WebServer/b: not there'),
    );
  });
  test('ends with the last words of an operator that ended', async () => {
    const ended = Promise.resolve({ code: 1, signal: null, lastLines: 'no rights' });
    const waiting = untilReady({ live: liveOf([]), operator: { ended }, ...screenOn(false) }, applied, 60_000, never);
    await expect(waiting).rejects.toThrow('the operator ended by itself (exit code 1). Its last lines:\nno rights');
  });
  test('ends with the reason of an interruption', async () => {
    const interrupt = new AbortController();
    const waiting = untilReady(
      { live: liveOf([]), operator: running, ...screenOn(false) },
      applied,
      60_000,
      interrupt.signal,
    );
    interrupt.abort(new Error('Ctrl-C'));
    await expect(waiting).rejects.toThrow('Ctrl-C');
  });
});
