import { describe, expect, test } from '@jest/globals';
import { Construct } from 'constructs';
import { at, emptiesIn, objectNamed, synthesized } from '../test/manifests.ts';
import { pullPolicyOf } from './container.ts';
import { Workload, type WorkloadProps } from './workload.ts';

const web: WorkloadProps = {
  name: 'web',
  namespace: 'shop',
  application: 'webserver',
  managedBy: 'reprise',
  image: 'nginx:1.29',
  replicas: 3,
  ports: [{ name: 'http', port: 8080 }],
  readiness: { port: 'http' },
  liveness: { port: 'http', path: '/healthz', periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 },
  resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '1000m', memory: '1024Mi' } },
  user: 101,
};

const objects = (props: Partial<WorkloadProps> = {}) =>
  synthesized((chart) => new Workload(chart, 'workload', { ...web, ...props }));
const deployment = (props: Partial<WorkloadProps> = {}) => objectNamed(objects(props), 'Deployment', 'web');
const service = (props: Partial<WorkloadProps> = {}) => objectNamed(objects(props), 'Service', 'web');
const pod = (props: Partial<WorkloadProps> = {}) => at(deployment(props), 'spec.template.spec');
const container = (props: Partial<WorkloadProps> = {}) => at(pod(props), 'containers.0');

describe('the objects of a workload', () => {
  test('are one Deployment and one Service of its name', () => {
    expect(
      objects().map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.namespace, metadata.name]),
    ).toEqual([
      ['apps/v1', 'Deployment', 'shop', 'web'],
      ['v1', 'Service', 'shop', 'web'],
    ]);
  });

  test('stay the same to the byte when constructs are renamed or moved', () => {
    const moved = synthesized((chart) => {
      const deeper = new Construct(new Construct(chart, 'some'), 'where');
      new Workload(deeper, 'else', web);
    });
    expect(JSON.stringify(moved)).toBe(JSON.stringify(objects()));
  });

  test('hold nothing that the API server drops', () => {
    expect(emptiesIn(objects())).toEqual([]);
    expect(emptiesIn(objects({ args: [], env: {}, writablePaths: [], serviceAccountName: 'robot' }))).toEqual([]);
  });

  test('carry the recommended labels, pods included', () => {
    const labels = {
      'app.kubernetes.io/name': 'webserver',
      'app.kubernetes.io/instance': 'web',
      'app.kubernetes.io/managed-by': 'reprise',
    };
    expect(deployment().metadata.labels).toEqual(labels);
    expect(service().metadata.labels).toEqual(labels);
    expect(at(deployment(), 'spec.template.metadata')).toEqual({ labels });
  });

  test('select by kind and name, and by nothing that could change', () => {
    const selector = { 'app.kubernetes.io/name': 'webserver', 'app.kubernetes.io/instance': 'web' };
    expect(at(deployment(), 'spec.selector')).toEqual({ matchLabels: selector });
    expect(at(service(), 'spec.selector')).toEqual(selector);
  });
});

describe('the pods of a workload', () => {
  test('satisfy PodSecurity restricted', () => {
    expect(at(pod(), 'securityContext')).toEqual({
      runAsNonRoot: true,
      runAsUser: 101,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(container(), 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
    });
  });

  test('may bind a port below 1024 only where they have one', () => {
    const sysctls = [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }];
    const sysctlsWith = (port: number) => at(pod({ ports: [{ name: 'http', port }] }), 'securityContext.sysctls');
    expect(sysctlsWith(1023)).toEqual(sysctls);
    expect(sysctlsWith(1024)).toBeUndefined();
  });

  test('get no token unless they name an account', () => {
    expect(pod()).toMatchObject({ automountServiceAccountToken: false });
    expect(pod()).not.toHaveProperty('serviceAccountName');
    expect(pod({ serviceAccountName: 'robot' })).toMatchObject({
      automountServiceAccountToken: true,
      serviceAccountName: 'robot',
    });
  });

  test('get no variables from the Services of their namespace', () => {
    expect(pod()).toMatchObject({ enableServiceLinks: false });
  });

  test('have an empty directory of bounded size for each path that is to be writable', () => {
    const props = { writablePaths: ['/tmp', '/var/run'], writableSize: '1024Mi' };
    expect(at(container(props), 'volumeMounts')).toEqual([
      { name: 'writable-0', mountPath: '/tmp' },
      { name: 'writable-1', mountPath: '/var/run' },
    ]);
    expect(at(pod(props), 'volumes')).toEqual([
      { name: 'writable-0', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'writable-1', emptyDir: { sizeLimit: '1Gi' } },
    ]);
    expect(pod()).not.toHaveProperty('volumes');
  });

  test('have resources in the spelling of the API server', () => {
    expect(at(container(), 'resources')).toEqual({
      requests: { cpu: '50m', memory: '64Mi' },
      limits: { cpu: '1', memory: '1Gi' },
    });
  });

  test('are probed by TCP, or by HTTP where a path is given', () => {
    expect(at(container(), 'readinessProbe')).toEqual({
      tcpSocket: { port: 'http' },
      periodSeconds: 10,
      timeoutSeconds: 2,
      failureThreshold: 3,
      successThreshold: 1,
    });
    expect(at(container(), 'livenessProbe')).toEqual({
      httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' },
      periodSeconds: 20,
      timeoutSeconds: 5,
      failureThreshold: 6,
      successThreshold: 1,
    });
    expect(container()).not.toHaveProperty('startupProbe');
    expect(at(container({ startup: { port: 'http', periodSeconds: 1 } }), 'startupProbe.periodSeconds')).toBe(1);
  });

  test('pass arguments and variables on; one without a value is stored without the field', () => {
    expect(container()).not.toHaveProperty('args');
    const props = { args: ['--verbose'], env: { COLOUR: 'blue', EMPTY: '' } };
    expect(container(props)).toMatchObject({
      args: ['--verbose'],
      env: [{ name: 'COLOUR', value: 'blue' }, { name: 'EMPTY' }],
    });
  });
});

describe('a roll-out', () => {
  test('never takes a pod away before its successor is there, unless two must not run at once', () => {
    expect(at(deployment(), 'spec.strategy')).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    expect(at(deployment({ strategy: 'Recreate' }), 'spec.strategy')).toEqual({ type: 'Recreate' });
  });

  test('of few or no replicas keeps the number: 0 and 1 are not taken for absent', () => {
    expect(at(deployment({ replicas: 0 }), 'spec.replicas')).toBe(0);
    expect(at(deployment({ replicas: 1 }), 'spec.replicas')).toBe(1);
  });
});

describe('the Service of a workload', () => {
  test('is reached inside the cluster alone, under the port of the container', () => {
    expect(service()['spec']).toEqual({
      type: 'ClusterIP',
      selector: { 'app.kubernetes.io/name': 'webserver', 'app.kubernetes.io/instance': 'web' },
      ports: [{ name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' }],
    });
  });

  test('does not offer ports that are not exposed', () => {
    const ports = [
      { name: 'http', port: 8080 },
      { name: 'probes', port: 8081, isExposed: false },
    ];
    expect(at(service({ ports }), 'spec.ports')).toHaveLength(1);
    expect(at(container({ ports }), 'ports')).toEqual([
      { name: 'http', containerPort: 8080, protocol: 'TCP' },
      { name: 'probes', containerPort: 8081, protocol: 'TCP' },
    ]);
  });
});

describe('the pull policy', () => {
  test.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['registry.example.com:5000/nginx', 'Always'],
    ['registry.example.com:5000/nginx:1.29', 'IfNotPresent'],
    ['nginx:1.29', 'IfNotPresent'],
    [`nginx:latest@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  ])('of %s is %s, as the API server would choose', (image, policy) => {
    expect(pullPolicyOf(image)).toBe(policy);
    expect(container({ image })).toMatchObject({ image, imagePullPolicy: policy });
  });
});
