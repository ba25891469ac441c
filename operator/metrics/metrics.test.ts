import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../test/fake-clock.ts';
import { createMetrics, type Metrics } from './metrics.ts';

let clock: FakeClock;
let metrics: Metrics;
beforeEach(() => {
  clock = new FakeClock();
  metrics = createMetrics(clock);
});

/** The samples of the exposition that begin with these words. */
async function samples(prefix: string): Promise<readonly string[]> {
  const lines = (await metrics.exposition()).split('\n');
  return lines.filter((line) => line.startsWith(prefix));
}

describe('the metrics', () => {
  test('have the names and labels of controller-runtime, at zero before anything happened', async () => {
    metrics.addController('webserver', 10);
    expect(await samples('controller_runtime_reconcile_total')).toEqual([
      'controller_runtime_reconcile_total{controller="webserver",result="error"} 0',
      'controller_runtime_reconcile_total{controller="webserver",result="requeue_after"} 0',
      'controller_runtime_reconcile_total{controller="webserver",result="requeue"} 0',
      'controller_runtime_reconcile_total{controller="webserver",result="success"} 0',
    ]);
    expect(await samples('controller_runtime_max')).toEqual([
      'controller_runtime_max_concurrent_reconciles{controller="webserver"} 10',
    ]);
    expect(await samples('controller_runtime_terminal')).toEqual([
      'controller_runtime_terminal_reconcile_errors_total{controller="webserver"} 0',
    ]);
    expect(await samples('workqueue_depth')).toEqual([
      'workqueue_depth{name="webserver",controller="webserver",priority=""} 0',
    ]);
    expect(await samples('workqueue_longest')).toEqual([
      'workqueue_longest_running_processor_seconds{name="webserver",controller="webserver"} 0',
    ]);
    expect(await samples('workqueue_queue_duration_seconds_count')).toEqual([
      'workqueue_queue_duration_seconds_count{name="webserver",controller="webserver"} 0',
    ]);
  });

  test('have the buckets of controller-runtime', async () => {
    metrics.addController('webserver', 1);
    const bounds = async (name: string) =>
      (await samples(`${name}_bucket`)).map((line) => /le="([^"]+)"/.exec(line)?.[1]);
    expect((await bounds('workqueue_work_duration_seconds')).map(Number)).toEqual([
      1e-8,
      1e-7,
      1e-6,
      1e-5,
      1e-4,
      1e-3,
      0.01,
      0.1,
      1,
      10,
      100,
      1000,
      Number.NaN,
    ]);
    const reconcile = await bounds('controller_runtime_reconcile_time_seconds');
    expect(reconcile).toHaveLength(41);
    expect([reconcile[0], reconcile[5], reconcile[39], reconcile[40]]).toEqual(['0.005', '0.15', '60', '+Inf']);
  });

  test('count what the observer hears', async () => {
    const { observer } = metrics;
    observer.reconciled('webserver', 'success', 0.3);
    observer.reconciled('webserver', 'error', 2);
    observer.reconcileFailed('webserver', false);
    observer.reconcileFailed('webserver', true);
    observer.activeWorkers('webserver', 3);
    observer.queueAdded('webserver');
    observer.queueRetried('webserver');
    observer.queueDepth('webserver', 7);
    observer.written('webserver', 'apply');
    observer.request('PATCH', '127.0.0.1:6443', '200');
    observer.watchEvent('deployments.apps', 'MODIFIED');
    observer.watchRestarted('deployments.apps', 'ConnectionFailed');
    const text = (await metrics.exposition()).split('\n');
    expect(text).toEqual(
      expect.arrayContaining([
        'controller_runtime_reconcile_total{controller="webserver",result="success"} 1',
        'controller_runtime_reconcile_total{controller="webserver",result="error"} 1',
        'controller_runtime_reconcile_errors_total{controller="webserver"} 2',
        'controller_runtime_terminal_reconcile_errors_total{controller="webserver"} 1',
        'controller_runtime_reconcile_time_seconds_sum{controller="webserver"} 2.3',
        'controller_runtime_active_workers{controller="webserver"} 3',
        'workqueue_adds_total{name="webserver",controller="webserver"} 1',
        'workqueue_retries_total{name="webserver",controller="webserver"} 1',
        'workqueue_depth{name="webserver",controller="webserver",priority=""} 7',
        'reprise_writes_total{controller="webserver",verb="apply"} 1',
        'rest_client_requests_total{code="200",method="PATCH",host="127.0.0.1:6443"} 1',
        'reprise_watch_events_total{resource="deployments.apps",type="MODIFIED"} 1',
        'reprise_watch_restarts_total{resource="deployments.apps",reason="ConnectionFailed"} 1',
      ]),
    );
  });

  test('show work that hangs while it hangs', async () => {
    metrics.observer.queueWaited('webserver', 0.5);
    clock.advance(90_000);
    expect(await samples('workqueue_longest')).toEqual([
      'workqueue_longest_running_processor_seconds{name="webserver",controller="webserver"} 90',
    ]);
    metrics.observer.queueWorked('webserver', 90);
    expect(await samples('workqueue_unfinished')).toEqual([
      'workqueue_unfinished_work_seconds{name="webserver",controller="webserver"} 0',
    ]);
    expect(await samples('workqueue_work_duration_seconds_sum')).toEqual([
      'workqueue_work_duration_seconds_sum{name="webserver",controller="webserver"} 90',
    ]);
  });

  test('ask for the size of a cache when they are read', async () => {
    let size = 1;
    metrics.addCache('webservers.webserver.example.com', () => size);
    size = 42;
    expect(await samples('reprise_cache_objects')).toEqual([
      'reprise_cache_objects{resource="webservers.webserver.example.com"} 42',
    ]);
  });

  test('tell of the event loop, the heap and the processor', async () => {
    const text = await metrics.exposition();
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes', 'process_cpu_seconds_total'])
      expect(text).toContain(`# TYPE ${name} `);
  });

  test('of two operators in one process do not mix', async () => {
    const other = createMetrics(clock);
    other.observer.queueAdded('webserver');
    expect(await samples('workqueue_adds_total{')).toEqual([]);
  });
});
