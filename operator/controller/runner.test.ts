import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { RecordingLog } from '../../test/recording-log.ts';
import { done, Terminal, type Outcome } from './outcome.ts';
import { Runner, type Run } from './runner.ts';

function setUp(reconcile: (key: string, run: Run, signal: AbortSignal) => Promise<Outcome>) {
  const clock = new FakeClock();
  const log = new RecordingLog();
  const heard: string[] = [];
  const observer = {
    reconciled: (name: string, result: string, seconds: number) => void heard.push(`${name} ${result} ${seconds}`),
    reconcileFailed: (_name: string, terminal: boolean) => void heard.push(terminal ? 'failed for good' : 'failed'),
    activeWorkers: (_name: string, workers: number) => void heard.push(`workers ${workers}`),
  };
  const runner = new Runner({ name: 'toy', reconcile, timeoutMs: 30_000, observer, log, clock, random: () => 0.5 });
  const run = (failures = 0) => runner.run({ key: 'shop/web', causes: ['spec changed', 'resync'], failures });
  return { clock, log, heard, runner, run };
}

/** Hangs until it is aborted, as a request does. */
const hanging = (_key: string, _run: Run, signal: AbortSignal): Promise<Outcome> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

describe('one run', () => {
  test('is told to the observer as controller-runtime does', async () => {
    const world = setUp(async () => {
      world.clock.advance(250);
      return Promise.resolve(done);
    });
    expect(await world.run()).toEqual({ then: 'forget' });
    expect(world.heard).toEqual(['workers 1', 'workers 0', 'toy success 0.25']);
  });

  test('has in each of its lines who it is for, its id and its causes', async () => {
    const { run, log } = setUp((_key, { log: own }) => {
      own.info('hello');
      return Promise.resolve(done);
    });
    await run();
    expect(log.lines).toMatchObject([
      {
        fields: { namespace: 'shop', name: 'web', causes: ['spec changed', 'resync'], reconcileId: expect.any(String) },
      },
    ]);
  });

  test('knows how often it failed before', async () => {
    let known = -1;
    const { run } = setUp((_key, { failures }) => {
      known = failures;
      return Promise.resolve(done);
    });
    await run(4);
    expect(known).toBe(4);
  });

  test('that throws is retried, counted and logged once as an error', async () => {
    const { run, heard, log } = setUp(() => Promise.reject(new Error('boom')));
    expect(await run(2)).toEqual({ then: 'retry' });
    expect(heard).toEqual(['workers 1', 'failed', 'workers 0', 'toy error 0']);
    expect(log.at('error')).toMatchObject([{ message: 'the reconcile failed', fields: { attempt: 3 } }]);
  });

  test('that throws Terminal is counted as such and not logged as an error again', async () => {
    const { run, heard, log } = setUp(() => Promise.reject(new Terminal('RenderFailed', 'x')));
    expect(await run()).toEqual({ then: 'forget' });
    expect(heard).toContain('failed for good');
    expect(log.at('error')).toEqual([]);
  });

  test('that throws before its first await is no different', async () => {
    const { run } = setUp(() => {
      throw new Error('at once');
    });
    expect(await run()).toEqual({ then: 'retry' });
  });
});

describe('the time limit', () => {
  test('cuts a run off that hangs, and says so', async () => {
    const { run, clock, log } = setUp(hanging);
    const running = run();
    clock.advance(30_000);
    expect(await running).toEqual({ then: 'retry' });
    expect(log.at('error')).toMatchObject([
      { error: { name: 'ReconcileTimeout', message: 'the reconcile was cut off after 30 s' } },
    ]);
  });

  test('leaves no timer behind when it was not needed', async () => {
    const { run, clock } = setUp(() => Promise.resolve(done));
    await run();
    expect(clock.waits).toEqual([]);
  });
});

describe('cutting off', () => {
  test('ends all runs in flight and those that would begin, without noise', async () => {
    const { run, runner, log, heard } = setUp(hanging);
    const inFlight = [run(), run()];
    runner.cut(new Error('lease lost'));
    expect(await Promise.all(inFlight)).toEqual([{ then: 'forget' }, { then: 'forget' }]);
    expect(await run()).toEqual({ then: 'forget' });
    expect([...log.at('error'), ...log.at('warn')]).toEqual([]);
    expect(heard).not.toContain('failed');
  });
});
