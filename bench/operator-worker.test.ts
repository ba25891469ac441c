import { expect, test } from '@jest/globals';
import { createMetrics } from '../operator/metrics/metrics.ts';
import { FakeClock } from '../test/fake-clock.ts';
import { countsIn } from './operator-worker.ts';

test('the bench reads the metrics that the operator writes', async () => {
  const metrics = createMetrics(new FakeClock());
  metrics.addController('webserver', 10);
  const { observer } = metrics;
  observer.reconciled('webserver', 'success', 0.01);
  observer.reconciled('webserver', 'requeue_after', 0.01);
  observer.reconciled('webserver', 'error', 0.01);
  observer.reconcileFailed('webserver', false);
  observer.activeWorkers('webserver', 2);
  observer.queueDepth('webserver', 5);
  observer.watchEvent('deployments.apps', 'ADDED');
  observer.request('GET', 'host', '200');
  observer.request('POST', 'host', '201');
  observer.request('POST', 'host', '409');
  observer.request('PATCH', 'host', '<error>');
  expect(countsIn(await metrics.exposition())).toEqual({
    reconciles: 3,
    failed: 1,
    writes: 3,
    watchEvents: 1,
    pending: 7,
  });
});
