import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Condition, KubeObject } from '../../charts/resource.ts';
import { at, childrenOf, emptiesIn, objectNamed } from '../../test/manifests.ts';
import { fillDefaults } from '../defaults.ts';
import { definitionOf, rootSchemaOf, type Observed } from '../kind.ts';
import type { LiveDeployment } from '../owned.ts';
import { validate } from '../validate.ts';
import { WebServer } from './index.ts';
import { observe } from './observe.ts';
import type { WebServer as Server } from './schema.ts';

/** A sample as the API server stores it: with defaults and what only stored objects have. */
function sample(name: string): Server {
  const written = parse(readFileSync(join(import.meta.dirname, 'samples', `${name}.yaml`), 'utf8')) as KubeObject;
  const stored = fillDefaults(rootSchemaOf(WebServer), written) as Server;
  return { ...stored, metadata: { ...written.metadata, namespace: 'default', uid: '6b5c-1', generation: 1 } };
}

const serverOf = (spec: Partial<Server['spec']> = {}): Server => ({
  ...sample('minimal'),
  metadata: { name: 'web', namespace: 'shop', uid: '6b5c-2', generation: 1 },
  spec: { replicas: 2, image: 'nginx:latest', port: 80, ...spec },
});

const child = (kind: string, server: Server) => objectNamed(childrenOf(WebServer, server), kind, server.metadata.name);
const podOf = (server: Server) => at(child('Deployment', server), 'spec.template.spec');
const containerOf = (server: Server) => at(podOf(server), 'containers.0');

describe('the definition of WebServer', () => {
  const definition = definitionOf(WebServer);
  const version = at(definition, 'spec.versions.0');
  const schema = at(version, 'schema.openAPIV3Schema');

  test('WebServer definition', () => {
    expect(definition).toMatchSnapshot();
  });

  test('has the names that users type', () => {
    expect(definition.metadata.name).toBe('webservers.webserver.example.com');
    expect(at(definition, 'spec.group')).toBe('webserver.example.com');
    expect(at(definition, 'spec.scope')).toBe('Namespaced');
    expect(at(version, 'name')).toBe('v1');
    expect(at(definition, 'spec.names')).toMatchObject({ kind: 'WebServer', plural: 'webservers', shortNames: ['ws'] });
  });

  test('asks for 1 to 10 replicas, and fills in image and port', () => {
    const spec = at(schema, 'properties.spec');
    expect(at(spec, 'required')).toEqual(['replicas']);
    expect(at(spec, 'properties.replicas')).toMatchObject({ type: 'integer', minimum: 1, maximum: 10 });
    expect(at(spec, 'properties.image')).toMatchObject({ type: 'string', default: 'nginx:latest' });
    expect(at(spec, 'properties.port')).toMatchObject({ type: 'integer', minimum: 1, maximum: 65_535, default: 80 });
  });

  test('lets nobody ask for root', () => {
    expect(at(schema, 'properties.spec.properties.runAsUser.minimum')).toBe(1);
  });

  test('merges conditions by type and writable paths as a set', () => {
    expect(at(schema, 'properties.status.properties.conditions')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
    expect(at(schema, 'properties.spec.properties.writablePaths')).toMatchObject({ 'x-kubernetes-list-type': 'set' });
  });

  test('can be scaled, and tells autoscalers which pods are meant', () => {
    expect(at(version, 'subresources')).toEqual({
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    });
  });

  test('shows Replicas, Ready, Image and Age; the rest only when asked for', () => {
    const columns = at(version, 'additionalPrinterColumns') as readonly { name: string; priority?: number }[];
    const shown = columns.filter(({ priority = 0 }) => priority === 0);
    expect(shown.map(({ name }) => name)).toEqual(['Replicas', 'Ready', 'Image', 'Age']);
  });

  const paths = new RegExp(String(at(schema, 'properties.spec.properties.writablePaths.items.pattern')));

  test.each(['/tmp', '/var/lib/app', '/home/app/.cache', '/a_b-c.d'])('takes %s as a writable path', (path) => {
    expect(path).toMatch(paths);
  });

  test.each(['/', '', 'tmp', '/tmp/', '//tmp', '/./tmp', '/var/../etc', '/..', '/a b', '/a:b', '/a\n/b'])(
    'refuses %j as a writable path',
    (path) => {
      expect(path).not.toMatch(paths);
    },
  );
});

describe('the samples of WebServer', () => {
  test.each(['minimal', 'full'])('%s is what the schema takes', (name) => {
    expect(validate(WebServer.spec, sample(name).spec)).toEqual([]);
  });

  test('full shows every field that a user can write', () => {
    expect(Object.keys(sample('full').spec).sort()).toEqual([
      'image',
      'port',
      'replicas',
      'runAsUser',
      'writablePaths',
    ]);
    expect(Object.keys(WebServer.spec.json.properties ?? {})).toHaveLength(5);
  });
});

describe('the children of a WebServer', () => {
  test.each(['minimal', 'full'])('WebServer %s', (name) => {
    const server = sample(name);
    expect(child('Deployment', server)).toMatchSnapshot('Deployment');
    expect(child('Service', server)).toMatchSnapshot('Service');
  });

  test('are a Deployment and a Service of its name in its namespace', () => {
    const children = childrenOf(WebServer, serverOf());
    expect(children.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name])).toEqual([
      ['Deployment', 'shop', 'web'],
      ['Service', 'shop', 'web'],
    ]);
  });

  test('run as many pods of the image as asked for', () => {
    const server = serverOf({ replicas: 7, image: 'httpd:2.4' });
    expect(at(child('Deployment', server), 'spec.replicas')).toBe(7);
    expect(at(podOf(server), 'containers')).toHaveLength(1);
    expect(containerOf(server)).toMatchObject({ image: 'httpd:2.4' });
  });

  test('agree on the port: what the image listens on, what is probed, what the Service offers', () => {
    const server = serverOf({ port: 8080 });
    expect(at(containerOf(server), 'ports')).toEqual([{ name: 'http', containerPort: 8080, protocol: 'TCP' }]);
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(at(containerOf(server), `${probe}.tcpSocket`)).toEqual({ port: 'http' });
    expect(at(child('Service', server), 'spec')).toMatchObject({
      type: 'ClusterIP',
      ports: [{ name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' }],
    });
  });

  test('have three minutes to listen before they are restarted, or the rollout counts as failed', () => {
    expect(at(containerOf(serverOf()), 'startupProbe')).toMatchObject({ periodSeconds: 1, failureThreshold: 180 });
    expect(at(child('Deployment', serverOf()), 'spec.progressDeadlineSeconds')).toBe(180);
  });

  test('find each other by kind and name', () => {
    const selector = { 'app.kubernetes.io/name': 'webserver', 'app.kubernetes.io/instance': 'web' };
    expect(at(child('Deployment', serverOf()), 'spec.selector.matchLabels')).toEqual(selector);
    expect(at(child('Deployment', serverOf()), 'spec.template.metadata.labels')).toMatchObject(selector);
    expect(at(child('Service', serverOf()), 'spec.selector')).toEqual(selector);
  });

  test('carry the label that the operator watches', () => {
    for (const { metadata } of childrenOf(WebServer, serverOf()))
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'reprise' });
  });

  test('let nginx:latest live in a restricted namespace: its user, its port, its directories', () => {
    expect(at(podOf(serverOf()), 'securityContext')).toEqual({
      runAsNonRoot: true,
      runAsUser: 101,
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    });
    expect(at(containerOf(serverOf()), 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
    });
    const mounts = at(containerOf(serverOf()), 'volumeMounts') as readonly { mountPath: string }[];
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual(['/var/cache/nginx', '/var/run', '/tmp']);
  });

  test('give another image the user and the directories that it needs, each directory once', () => {
    const server = serverOf({ runAsUser: 1000, writablePaths: ['/tmp', '/data'] });
    expect(at(podOf(server), 'securityContext.runAsUser')).toBe(1000);
    const mounts = at(containerOf(server), 'volumeMounts') as readonly { mountPath: string }[];
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual(['/var/cache/nginx', '/var/run', '/tmp', '/data']);
    expect(at(podOf(server), 'volumes')).toHaveLength(4);
  });

  const anySpec = fc.record({
    replicas: fc.integer({ min: 1, max: 10 }),
    image: fc.stringMatching(/^[a-z][a-z0-9./:-]{0,40}$/),
    port: fc.integer({ min: 1, max: 65_535 }),
    runAsUser: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    writablePaths: fc.uniqueArray(fc.stringMatching(/^(\/[a-z]{1,9}){1,3}$/), { maxLength: 8 }),
  });

  test('are the same to the byte for the same resource, and hold nothing that the API server drops', () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const [first, second] = [childrenOf(WebServer, serverOf(spec)), childrenOf(WebServer, serverOf(spec))];
        expect(JSON.stringify(first)).toBe(JSON.stringify(second));
        expect(emptiesIn(first)).toEqual([]);
      }),
    );
  });

  test('have selectors that no change of the spec changes', () => {
    const selectors = (spec: Partial<Server['spec']>) =>
      childrenOf(WebServer, serverOf(spec)).map((object) => at(object, 'spec.selector'));
    fc.assert(fc.property(anySpec, (spec) => expect(selectors(spec)).toEqual(selectors({}))));
  });
});

const time = '2026-11-21T10:00:00Z';

const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: time,
});

/** A Deployment whose controller has seen generation 3, which is its latest unless said otherwise. */
const live = (status: LiveDeployment['status'], generation = 3): LiveDeployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', generation },
  spec: { replicas: 3 },
  status: { observedGeneration: 3, ...status },
});

const seen = (deployment: LiveDeployment | undefined): Observed => ({
  get: (type, name) => (type.kind === 'Deployment' && name === 'web' ? deployment : undefined) as never,
  all: () => [],
});

const statusOf = (deployment: LiveDeployment | undefined) => observe(serverOf({ replicas: 3 }), seen(deployment));

/** The conditions as `Type=Status (Reason)`. */
const told = (deployment: LiveDeployment | undefined) =>
  statusOf(deployment).conditions.map(({ type, status, reason }) => `${type}=${status} (${reason})`);

const atRest = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };

describe('the status of a WebServer', () => {
  test('counts pods, and says how to select them', () => {
    expect(statusOf(live({ ...atRest, readyReplicas: 2 }))).toMatchObject({
      replicas: 3,
      readyReplicas: 2,
      selector: 'app.kubernetes.io/name=webserver,app.kubernetes.io/instance=web',
    });
  });

  test('of one whose Deployment is not there yet: no pods, on its way', () => {
    expect(statusOf(undefined)).toMatchObject({ replicas: 0, readyReplicas: 0 });
    expect(told(undefined)).toEqual([
      'Available=False (ReplicasUnavailable)',
      'Progressing=True (RolloutPending)',
      'Degraded=False (AsExpected)',
    ]);
  });

  test('of one whose Deployment nobody has looked at yet: the same', () => {
    const fresh = { ...live({}, 1), status: {} };
    expect(told(fresh)).toEqual(told(undefined));
  });

  test('at rest', () => {
    expect(told(live(atRest))).toEqual([
      'Available=True (ReplicasAvailable)',
      'Progressing=False (RolloutComplete)',
      'Degraded=False (AsExpected)',
    ]);
  });

  test('while pods come up tells how many', () => {
    const status = { replicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 };
    expect(told(live(status))).toEqual([
      'Available=False (ReplicasUnavailable)',
      'Progressing=True (RollingOut)',
      'Degraded=False (AsExpected)',
    ]);
    expect(statusOf(live(status)).conditions.map(({ message }) => message)).toEqual([
      '1 of 3 replicas are available',
      '2 of 3 replicas are up to date, 1 available',
      '',
    ]);
  });

  test('during a rolling update stays available, for the old pods still serve', () => {
    const status = { replicas: 4, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3 };
    expect(told(live(status))).toEqual([
      'Available=True (ReplicasAvailable)',
      'Progressing=True (RollingOut)',
      'Degraded=False (AsExpected)',
    ]);
  });

  test('is on its way as long as old pods are still going', () => {
    expect(told(live({ ...atRest, replicas: 4 }))[1]).toBe('Progressing=True (RollingOut)');
  });

  test('is not called complete from counts that are older than the change', () => {
    expect(told(live(atRest, 4))[1]).toBe('Progressing=True (RolloutPending)');
  });

  test('takes a rollout that made no progress as failed, and says what to look at', () => {
    const conditions = [condition('Progressing', 'False', 'ProgressDeadlineExceeded')];
    const stuck = live({ replicas: 3, updatedReplicas: 3, readyReplicas: 0, availableReplicas: 0, conditions });
    expect(told(stuck)).toEqual([
      'Available=False (ReplicasUnavailable)',
      'Progressing=False (ProgressDeadlineExceeded)',
      'Degraded=True (ProgressDeadlineExceeded)',
    ]);
    const degraded = statusOf(stuck).conditions[2];
    expect(degraded?.message).toContain('0 of 3 replicas came up in time');
    expect(degraded?.message).toContain('spec.port');
    expect(degraded?.message).toContain('spec.writablePaths');
  });

  test('does not hold an earlier failure against a newer change', () => {
    const conditions = [condition('Progressing', 'False', 'ProgressDeadlineExceeded')];
    expect(told(live({ replicas: 3, conditions }, 4)).slice(1)).toEqual([
      'Progressing=True (RolloutPending)',
      'Degraded=False (AsExpected)',
    ]);
  });

  test('passes on why pods are refused', () => {
    const refusal = 'pods "web-1" is forbidden: exceeded quota: small';
    const refused = live({ conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', refusal)] });
    expect(told(refused)[2]).toBe('Degraded=True (ReplicaFailure)');
    expect(statusOf(refused).conditions[2]?.message).toBe(refusal);
  });

  test('shortens what admission says at length', () => {
    const long = live({ conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'x'.repeat(5000))] });
    expect(statusOf(long).conditions[2]?.message).toBe(`${'x'.repeat(1023)}…`);
  });

  test('states every condition once, whatever the Deployment says', () => {
    const count = fc.nat(12);
    const counts = fc.record({
      replicas: count,
      updatedReplicas: count,
      readyReplicas: count,
      availableReplicas: count,
    });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 5 }), (status, generation) => {
        const types = statusOf(live(status, generation)).conditions.map(({ type }) => type);
        expect(types).toEqual(['Available', 'Progressing', 'Degraded']);
      }),
    );
  });
});
