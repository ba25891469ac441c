/** The operator itself: its account, its rights, its Deployment with a Service for metrics. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { labelsOf } from './labels.ts';
import { addManifests } from './manifests.ts';
import { OperatorRbac } from './rbac.ts';
import type { KubeObject, PolicyRule } from './resource.ts';
import { Workload } from './workload.ts';

export interface OperatorProps {
  /** Name of everything that is the operator's. */
  readonly name: string;
  /** Namespace that it runs in; Definitions makes it. */
  readonly namespace: string;
  readonly image: string;
  /** More than one only once they agree on a leader. */
  readonly replicas: number;
  /** Namespaces that it serves, or only `*`. They must exist. */
  readonly watchNamespaces: readonly string[];
  /** Least level that it logs. */
  readonly logLevel: string;
  /** What the kinds need in each watched namespace. */
  readonly rules: readonly PolicyRule[];
  /** ClusterRoles for users of the kinds. */
  readonly userRoles: readonly KubeObject[];
}

/** Who made these objects; not `reprise`, which marks what the operator makes and watches. */
const managedBy = 'cdk8s';

const events: PolicyRule = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] };

/** Applied after Definitions. */
export class Operator extends Chart {
  constructor(scope: Construct, id: string, props: OperatorProps) {
    super(scope, id);
    const { name, namespace, watchNamespaces } = props;
    const labels = labelsOf({ application: name, instance: name }, managedBy);
    new OperatorRbac(this, 'rbac', { name, namespace, labels, watchNamespaces, rules: [...props.rules, events] });
    addManifests(this, props.userRoles);
    new Workload(this, 'workload', {
      name,
      namespace,
      application: name,
      managedBy,
      image: props.image,
      replicas: props.replicas,
      // Without an elected leader a new pod beside an old one would be two operators writing at once.
      strategy: 'Recreate',
      serviceAccountName: name,
      ...processOf(props),
      // The image's user `nonroot`. It writes no file, so there is no writable path.
      user: 65_532,
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
      // Longer than the operator's own --graceful-shutdown-timeout of 20s.
      terminationGracePeriodSeconds: 30,
    });
  }
}

/** How the process is started and watched: flags, environment, ports and probes belong together. */
const processOf = ({ logLevel, watchNamespaces }: OperatorProps) => ({
  args: [
    '--health-probe-bind-address=:8081',
    '--metrics-bind-address=:8080',
    '--log-format=json',
    `--log-level=${logLevel}`,
  ],
  env: { WATCH_NAMESPACE: watchNamespaces.join(',') },
  ports: [
    { name: 'metrics', port: 8080 },
    { name: 'probes', port: 8081, isExposed: false },
  ],
  readiness: { port: 'probes', path: '/readyz', periodSeconds: 5 },
  liveness: { port: 'probes', path: '/healthz', periodSeconds: 20 },
});
