/** The whole operator, as a process, on a real API server with its real controllers: what a user of WebServers sees. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { definitionOf } from '../crds/kind.ts';
import { WebServer } from '../crds/webserver/index.ts';
import { eventually, testApi } from './api.ts';
import { startOperator, type TestOperator } from './operator.ts';
import { conditionOf, containerOf, WebServers, type DeploymentObject } from './web-servers.ts';

jest.setTimeout(120_000);

const api = testApi();
let webs: WebServers;
let operator: TestOperator;
beforeAll(async () => {
  await api.establish(definitionOf(WebServer));
  webs = new WebServers(api, await api.namespace());
  operator = await startOperator({ namespaces: [webs.namespace] });
  await operator.ready();
});
afterAll(async () => {
  await operator.stop();
  api.close();
});

const sample = (name: string): object =>
  parse(readFileSync(join(import.meta.dirname, `../crds/webserver/samples/${name}.yaml`), 'utf8')) as object;

describe('a sample', () => {
  test('becomes a Deployment and a Service that it owns, and is ready', async () => {
    const { metadata } = await webs.create(sample('minimal'));
    const deployment = await webs.eventualDeployment('hello', () => true);
    const service = await webs.eventualService('hello', () => true);
    const owner = {
      apiVersion: 'webserver.example.com/v1',
      kind: 'WebServer',
      name: 'hello',
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    for (const child of [deployment, service]) {
      expect(child.metadata.ownerReferences).toEqual([owner]);
      expect(child.metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'reprise' });
    }
    expect(deployment.spec.replicas).toBe(2);
    expect(containerOf(deployment)).toMatchObject({ image: 'nginx:latest', ports: [{ containerPort: 80 }] });
    expect(service.spec.ports).toEqual([expect.objectContaining({ port: 80 })]);

    const { status } = await webs.ready('hello', 2);
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, observedGeneration: 1 });
  });

  test('with every field is ready too', async () => {
    await webs.create(sample('full'));
    await webs.ready('docs', 3);
  });
});

describe('a change of the spec', () => {
  test('by kubectl scale reaches the Deployment, and the scale tells of it', async () => {
    await webs.make('scaled');
    await webs.ready('scaled', 1);
    await webs.scale('scaled', 5);
    await webs.ready('scaled', 5);
    expect((await webs.deployment('scaled')).body.spec.replicas).toBe(5);
    expect(await webs.scaleOf('scaled')).toMatchObject({
      spec: { replicas: 5 },
      status: { replicas: 5, selector: 'app.kubernetes.io/name=webserver,app.kubernetes.io/instance=scaled' },
    });
  });

  test.each<[string, object, (deployment: DeploymentObject) => unknown, unknown]>([
    ['replicas', { replicas: 3 }, ({ spec }) => spec.replicas, 3],
    ['image', { image: 'nginx:1.29' }, (deployment) => containerOf(deployment).image, 'nginx:1.29'],
    ['port', { port: 8080 }, (deployment) => containerOf(deployment).ports[0]?.containerPort, 8080],
    ['runAsUser', { runAsUser: 1234 }, ({ spec }) => spec.template.spec.securityContext?.runAsUser, 1234],
    [
      'writablePaths',
      { writablePaths: ['/data'] },
      (deployment) => containerOf(deployment).volumeMounts.some(({ mountPath }) => mountPath === '/data'),
      true,
    ],
  ])('of %s reaches the Deployment', async (field, change, read, expected) => {
    const name = `changed-${field.toLowerCase()}`;
    await webs.make(name);
    const before = await webs.eventualDeployment(name, () => true);
    expect(read(before)).not.toEqual(expected);
    await webs.patchSpec(name, change);
    const after = await webs.eventualDeployment(name, (deployment) => read(deployment) === expected);
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  test('of the port reaches the Service', async () => {
    await webs.make('ported');
    await webs.eventualService('ported', ({ spec }) => spec.ports[0]?.port === 80);
    await webs.patchSpec('ported', { port: 8080 });
    const { spec } = await webs.eventualService('ported', ({ spec }) => spec.ports[0]?.port === 8080);
    expect(spec.ports).toHaveLength(1);
  });
});

describe('what others do to the children', () => {
  test('is undone where the operator has a say, and left alone where it has none', async () => {
    await webs.make('drifting');
    await webs.ready('drifting', 1);
    const theirs = { annotations: { 'example.com/note': 'mine' }, labels: { 'example.com/team': 'blue' } };
    await webs.patchDeployment('drifting', {
      metadata: theirs,
      spec: { replicas: 7, template: { spec: { securityContext: { runAsUser: 0 } } } },
    });
    const repaired = await webs.eventualDeployment(
      'drifting',
      ({ spec }) => spec.replicas === 1 && spec.template.spec.securityContext?.runAsUser === 101,
    );
    expect(repaired.metadata).toMatchObject(theirs);
    await webs.patchService('drifting', {
      metadata: theirs,
      spec: { selector: { 'app.kubernetes.io/instance': 'somebody-else' } },
    });
    const service = await webs.eventualService(
      'drifting',
      ({ spec }) => spec.selector['app.kubernetes.io/instance'] === 'drifting',
    );
    expect(service.metadata).toMatchObject(theirs);
  });

  test('is made good when they delete one', async () => {
    await webs.make('robbed');
    await webs.ready('robbed', 1);
    const [deployment, service] = [await webs.deployment('robbed'), await webs.service('robbed')];
    await webs.removeDeployment('robbed');
    await webs.removeService('robbed');
    await webs.eventualDeployment('robbed', ({ metadata }) => metadata.uid !== deployment.body.metadata.uid);
    await webs.eventualService('robbed', ({ metadata }) => metadata.uid !== service.body.metadata.uid);
    await webs.ready('robbed', 1);
  });
});

describe('a Deployment of that name that is not the operator’s', () => {
  const labels = { app: 'theirs' };
  const foreign = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'taken' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'theirs:1' }] } },
    },
  };

  test('is not touched: the WebServer says Conflict in its status and in an event, and takes its place when it goes', async () => {
    const before = await webs.createDeployment(foreign);
    await webs.make('taken');
    const degraded = await eventually(
      () => webs.get('taken'),
      (web) => conditionOf(web, 'Degraded')?.status === 'True',
    );
    expect(conditionOf(degraded, 'Degraded')).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('Deployment'),
    });
    const events = await eventually(
      () => webs.events('taken'),
      (found) => found.length > 0,
    );
    expect(events).toEqual([
      expect.objectContaining({
        type: 'Warning',
        reason: 'Conflict',
        action: 'Apply',
        reportingInstance: operator.instance,
      }),
    ]);
    const { body } = await webs.deployment('taken');
    expect(body.spec).toEqual(before.spec);
    expect(body.metadata.labels).toEqual(before.metadata.labels);
    expect(body.metadata.ownerReferences).toBeUndefined();
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain('"reprise"');
    // The Service's name is free: what can be had is had.
    await webs.eventualService('taken', () => true);

    await webs.removeDeployment('taken');
    const recovered = await webs.ready('taken', 1);
    expect(conditionOf(recovered, 'Degraded')).toMatchObject({ status: 'False' });
  });
});

describe('the operator', () => {
  test('serves only the namespaces that it was given', async () => {
    const elsewhere = new WebServers(api, await api.namespace());
    await elsewhere.make('unseen');
    await webs.make('seen');
    await webs.ready('seen', 1);
    expect((await elsewhere.get('unseen')).status).toBeUndefined();
    expect((await elsewhere.deployment('unseen')).status).toBe(404);
  });

  test('tells the truth about itself through probes and metrics', async () => {
    expect((await operator.probe('/readyz?verbose')).body.split('\n').sort()).toEqual([
      '',
      '[+]shutdown ok',
      '[+]synced-deployments.apps ok',
      '[+]synced-services ok',
      '[+]synced-webservers.webserver.example.com ok',
      'readyz check passed',
    ]);
    expect((await operator.probe('/healthz?verbose')).body).toContain('[+]workers-webserver ok\nhealthz check passed');
    const controller = 'webserver';
    expect(
      await operator.metric('controller_runtime_reconcile_total', { controller, result: 'success' }),
    ).toBeGreaterThan(0);
    expect(await operator.metric('controller_runtime_max_concurrent_reconciles', { controller })).toBe(10);
    expect(await operator.metric('reprise_writes_total', { controller, verb: 'create' })).toBeGreaterThan(0);
    expect(
      await operator.metric('reprise_cache_objects', { resource: 'webservers.webserver.example.com' }),
    ).toBeGreaterThan(0);
    expect(await operator.metric('rest_client_requests_total', { method: 'POST', code: '201' })).toBeGreaterThan(0);
    expect(
      await operator.metric('reprise_watch_events_total', { resource: 'deployments.apps', type: 'ADDED' }),
    ).toBeGreaterThan(0);
    expect(await operator.metric('workqueue_work_duration_seconds_count', { name: controller })).toBeGreaterThan(0);
  });

  test('counts work as begun and ended: nothing is under way at rest', async () => {
    for (const name of ['workqueue_unfinished_work_seconds', 'workqueue_depth', 'controller_runtime_active_workers'])
      await eventually(
        () => operator.metric(name),
        (value) => value === 0,
      );
  });

  test('has had nothing to complain about but the foreign Deployment', () => {
    const complaints = operator.log().filter(({ level }) => level === 'warn' || level === 'error');
    expect(complaints.filter(({ name }) => name !== 'taken')).toEqual([]);
  });
});

/** The garbage collector looks for new types every 30 s only: these tests come last, when it knows WebServers. */
const collectedInMs = 60_000;

describe('deleting a WebServer', () => {
  test('takes its children with it', async () => {
    await webs.make('leaving');
    await webs.ready('leaving', 1);
    await webs.remove('leaving');
    const statuses = async () => [(await webs.deployment('leaving')).status, (await webs.service('leaving')).status];
    await eventually(statuses, (found) => found.every((status) => status === 404), collectedInMs);
  });

  test('and making it again gives new children', async () => {
    const first = await webs.make('phoenix');
    const old = await webs.eventualDeployment('phoenix', () => true);
    await webs.remove('phoenix');
    const second = await webs.make('phoenix', { replicas: 2 });
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    const deployment = await webs.eventualDeployment(
      'phoenix',
      ({ metadata }) => metadata.ownerReferences?.[0]?.uid === second.metadata.uid,
      collectedInMs,
    );
    expect(deployment.metadata.uid).not.toBe(old.metadata.uid);
    await webs.ready('phoenix', 2);
    const complaints = operator.log().filter(({ level, name }) => name === 'phoenix' && level !== 'info');
    expect(complaints).toEqual([]);
  });
});
