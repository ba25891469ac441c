/**
 * A Deployment with a Service in front of it. The operator itself is one, and so is what a WebServer stands for.
 *
 * Built on the typed manifests of cdk8s-plus-28 (its `k8s`), not on its `Deployment` class: that one labels pods with a hash of the
 * construct's path, so that moving a construct would restart them, and fills in resources, probes, replicas and fields such as
 * `hostNetwork: false` that the API server does not store. Here every field is said once and nothing else is there: what is rendered
 * is what the server keeps, and the operator compares the two.
 */
import { Construct } from 'constructs';
import { k8s } from 'cdk8s-plus-28';
import { labelsOf, selectorLabelsOf, type Application } from './labels.ts';
import { containerOf, volumesOf, type ContainerProps } from './container.ts';
import { podSecurity } from './pod-security.ts';

export interface WorkloadProps extends ContainerProps {
  /** Name of the Deployment and of the Service; at most 63 characters, a DNS label that begins with a letter. */
  readonly name: string;
  /** @default the chart's namespace */
  readonly namespace?: string;
  /** Value of the label `app.kubernetes.io/managed-by`. */
  readonly managedBy: string;
  readonly replicas: number;
  /**
   * Whether new pods come before old ones go. `Recreate` never runs two versions at once.
   * @default RollingUpdate, one pod more than asked for at a time and never one less
   */
  readonly strategy?: 'RollingUpdate' | 'Recreate';
  /** How long a rollout may make no progress before it counts as failed. @default 600 */
  readonly progressDeadlineSeconds?: number;
  /** ServiceAccount whose token is mounted, for pods that talk to the API server. @default no account of its own, no token */
  readonly serviceAccountName?: string;
  /** How long the process has to end after SIGTERM. @default 30 */
  readonly terminationGracePeriodSeconds?: number;
}

/** Gives an object of each: a Deployment and a ClusterIP Service of the same name, for the ports that are exposed. */
export class Workload extends Construct {
  constructor(scope: Construct, id: string, props: WorkloadProps) {
    super(scope, id);
    const identity = { application: props.application, instance: props.name };
    const metadata: k8s.ObjectMeta = {
      name: props.name,
      labels: labelsOf(identity, props.managedBy),
      ...(props.namespace !== undefined && { namespace: props.namespace }),
    };
    new k8s.KubeDeployment(this, 'deployment', { metadata, spec: deploymentSpec(identity, props) });
    new k8s.KubeService(this, 'service', { metadata, spec: serviceSpec(identity, props) });
  }
}

function deploymentSpec(identity: Application, props: WorkloadProps): k8s.DeploymentSpec {
  return {
    replicas: props.replicas,
    selector: { matchLabels: selectorLabelsOf(identity) },
    strategy: strategyOf(props.strategy ?? 'RollingUpdate'),
    progressDeadlineSeconds: props.progressDeadlineSeconds ?? 600,
    // Two are enough to look at what went wrong: what was deployed before is in the resource's own history, not here.
    revisionHistoryLimit: 2,
    template: {
      metadata: { labels: labelsOf(identity, props.managedBy) },
      spec: podSpec(props),
    },
  };
}

const strategyOf = (type: 'RollingUpdate' | 'Recreate'): k8s.DeploymentStrategy =>
  type === 'Recreate'
    ? { type }
    : {
        type,
        rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(1), maxUnavailable: k8s.IntOrString.fromNumber(0) },
      };

function podSpec(props: WorkloadProps): k8s.PodSpec {
  const volumes = volumesOf(props);
  return {
    securityContext: podSecurity(props.user, props.ports),
    automountServiceAccountToken: props.serviceAccountName !== undefined,
    ...(props.serviceAccountName !== undefined && { serviceAccountName: props.serviceAccountName }),
    // Without this every Service of the namespace puts a handful of variables into the environment.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: props.terminationGracePeriodSeconds ?? 30,
    containers: [containerOf(props)],
    ...(volumes.length > 0 && { volumes }),
  };
}

function serviceSpec(identity: Application, props: WorkloadProps): k8s.ServiceSpec {
  return {
    type: 'ClusterIP',
    selector: selectorLabelsOf(identity),
    ports: props.ports
      .filter((port) => port.isExposed ?? true)
      .map(({ name, port }) => ({ name, port, targetPort: k8s.IntOrString.fromString(name), protocol: 'TCP' })),
  };
}
