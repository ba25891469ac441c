/** The one container of a workload, with the directories that it may write to. */
import { k8s } from 'cdk8s-plus-28';
import { containerSecurity } from './pod-security.ts';
import { canonicalQuantity } from './quantity.ts';

export interface ContainerProps {
  /** What runs here, a DNS label: name of the container and value of the label `app.kubernetes.io/name`. */
  readonly application: string;
  readonly image: string;
  /** @default the image's own */
  readonly args?: readonly string[];
  /** Environment variables. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Ports that the container listens on. */
  readonly ports: readonly WorkloadPort[];
  /** May it have traffic? */
  readonly readiness: WorkloadProbe;
  /** Must it be restarted? */
  readonly liveness: WorkloadProbe;
  /** Has it started? The other probes wait for it. @default none: it is taken as started at once */
  readonly startup?: WorkloadProbe;
  readonly resources: Resources;
  /** User id that the container runs as; not 0. */
  readonly user: number;
  /** Directories that the container may write to: empty at start, gone with the pod. All else is read-only. @default none */
  readonly writablePaths?: readonly string[];
  /** Size at which the pod is evicted, of each writable path. @default 512Mi */
  readonly writableSize?: string;
}

export interface WorkloadPort {
  /** At most 15 lower-case characters; probes and the Service refer to it. */
  readonly name: string;
  readonly port: number;
  /** Whether the Service offers it, under the same number. @default true */
  readonly isExposed?: boolean;
}

export interface WorkloadProbe {
  /** Name of the port. */
  readonly port: string;
  /** Path to GET; an answer of 200 to 399 is success. @default a TCP connection is success */
  readonly path?: string;
  /** @default 10 */
  readonly periodSeconds?: number;
  /** @default 2 */
  readonly timeoutSeconds?: number;
  /** Failures in a row that count. @default 3 */
  readonly failureThreshold?: number;
}

export interface Resources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export interface Amounts {
  /** In cores: `500m`. */
  readonly cpu: string;
  /** In bytes: `64Mi`. */
  readonly memory: string;
}

/** The container. */
export function containerOf(props: ContainerProps): k8s.Container {
  const { args = [], env = {}, writablePaths = [] } = props;
  return {
    name: props.application,
    image: props.image,
    imagePullPolicy: pullPolicyOf(props.image),
    ...(args.length > 0 && { args: [...args] }),
    ...(Object.keys(env).length > 0 && { env: Object.entries(env).map(variable) }),
    ports: props.ports.map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' })),
    readinessProbe: probe(props.readiness),
    livenessProbe: probe(props.liveness),
    ...(props.startup && { startupProbe: probe(props.startup) }),
    resources: { requests: quantities(props.resources.requests), limits: quantities(props.resources.limits) },
    securityContext: containerSecurity,
    ...(writablePaths.length > 0 && {
      volumeMounts: writablePaths.map((mountPath, index) => ({ name: volumeName(index), mountPath })),
    }),
  };
}

/** The volumes behind the writable paths. */
export function volumesOf({ writablePaths = [], writableSize = '512Mi' }: ContainerProps): k8s.Volume[] {
  const sizeLimit = k8s.Quantity.fromString(canonicalQuantity(writableSize));
  return writablePaths.map((_path, index) => ({ name: volumeName(index), emptyDir: { sizeLimit } }));
}

const volumeName = (index: number): string => `writable-${index}`;

/** The rule by which the API server fills it in: a tag that moves, `latest`, is looked up at each start. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** The server drops an empty value. */
const variable = ([name, value]: readonly [string, string]): k8s.EnvVar => (value === '' ? { name } : { name, value });

const quantities = ({ cpu, memory }: Amounts): Record<string, k8s.Quantity> => ({
  cpu: k8s.Quantity.fromString(canonicalQuantity(cpu)),
  memory: k8s.Quantity.fromString(canonicalQuantity(memory)),
});

/** All that the server would fill in is said, so that no later version of it means something else. */
function probe({ port, path, ...rest }: WorkloadProbe): k8s.Probe {
  const target = k8s.IntOrString.fromString(port);
  return {
    ...(path === undefined ? { tcpSocket: { port: target } } : { httpGet: { path, port: target, scheme: 'HTTP' } }),
    periodSeconds: rest.periodSeconds ?? 10,
    timeoutSeconds: rest.timeoutSeconds ?? 2,
    failureThreshold: rest.failureThreshold ?? 3,
    successThreshold: 1,
  };
}
