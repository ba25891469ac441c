/**
 * The operator's configuration: flags over environment over defaults, read once, validated as a whole, frozen. The only
 * reader of process.env in operator/.
 */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  bindAddress,
  commaList,
  describeFlags,
  duration,
  oneOf,
  optionalText,
  readFlags,
  wholeNumber,
  type BindAddress,
  type Environment,
} from './flags.ts';
import { logFormats, logLevels, type LogFormat, type LogLevel } from './log/create-log.ts';

export interface Config {
  readonly connection: ConnectionConfig;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Names of kinds, for example `WebServer`. Empty: all that this build serves. */
  readonly kinds: readonly string[];
  /** Absent: no metrics are served. */
  readonly metricsBindAddress: BindAddress | undefined;
  /** Absent: no probes are served. */
  readonly healthProbeBindAddress: BindAddress | undefined;
  /** Of each kind. */
  readonly maxConcurrentReconciles: number;
  readonly resyncPeriodMs: number;
  readonly gracefulShutdownTimeoutMs: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** Which of the operator's replicas this is: the pod's name, else the host's. Stands in events and in the user agent. */
  readonly instance: string;
}

/** How to reach the API server. */
export type ConnectionConfig =
  | { readonly from: 'in-cluster'; readonly host: string; readonly port: string }
  | {
      readonly from: 'kubeconfig';
      /** Files as in KUBECONFIG, separated by the platform's path delimiter. Absent: ~/.kube/config. */
      readonly paths: string | undefined;
      /** Absent: the current context. */
      readonly context: string | undefined;
    };

/** What the command line asks for. */
export type Command =
  | { readonly do: 'run'; readonly config: Config }
  | { readonly do: 'print-help' | 'print-version' }
  | { readonly do: 'refuse'; readonly problems: readonly string[] };

/** What the process brings; parameters of readConfig, so that a test can give others. */
export interface Surroundings {
  /** Without node and script. */
  readonly argv: readonly string[];
  readonly env: Environment;
  /** Is there a mounted ServiceAccount token? */
  readonly hasToken: boolean;
}

const tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** What the running process brings. */
export const surroundings = (): Surroundings => ({
  argv: process.argv.slice(2),
  env: process.env,
  hasToken: existsSync(tokenFile),
});

const isNamespace = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);

const flagsFor = (kinds: readonly string[]) => ({
  kubeconfig: {
    placeholder: 'PATH',
    env: 'KUBECONFIG',
    default: '',
    description: 'kubeconfig to use; else the mounted ServiceAccount when running in a pod, else ~/.kube/config',
    parse: optionalText,
  },
  context: {
    placeholder: 'NAME',
    env: 'REPRISE_CONTEXT',
    default: '',
    description: 'context of the kubeconfig; else its current one',
    parse: optionalText,
  },
  namespaces: {
    placeholder: 'LIST',
    env: 'WATCH_NAMESPACE',
    default: '',
    description: 'namespaces to serve, separated by commas; empty or * serves all',
    parse: commaList(isNamespace, 'names of namespaces separated by commas, or *'),
  },
  kinds: {
    placeholder: 'LIST',
    env: 'REPRISE_KINDS',
    default: '',
    description: `kinds to serve, separated by commas, of ${kinds.join(', ')}; empty or * serves all`,
    parse: commaList((kind) => kinds.includes(kind), `some of ${kinds.join(', ')}, separated by commas`),
  },
  'metrics-bind-address': {
    placeholder: 'ADDRESS',
    env: 'REPRISE_METRICS_BIND_ADDRESS',
    default: ':8080',
    description: 'where /metrics is served; 0 serves none',
    parse: bindAddress,
  },
  'health-probe-bind-address': {
    placeholder: 'ADDRESS',
    env: 'REPRISE_HEALTH_PROBE_BIND_ADDRESS',
    default: ':8081',
    description: 'where /healthz and /readyz are served; 0 serves none',
    parse: bindAddress,
  },
  'max-concurrent-reconciles': {
    placeholder: 'NUMBER',
    env: 'REPRISE_MAX_CONCURRENT_RECONCILES',
    default: '10',
    description: 'how many resources of one kind are reconciled at a time',
    parse: wholeNumber(1, 1000),
  },
  'resync-period': {
    placeholder: 'DURATION',
    env: 'REPRISE_RESYNC_PERIOD',
    default: '30s',
    description: 'how often every resource is checked again, from the cache',
    parse: duration('1s', '24h'),
  },
  'graceful-shutdown-timeout': {
    placeholder: 'DURATION',
    env: 'REPRISE_GRACEFUL_SHUTDOWN_TIMEOUT',
    default: '20s',
    description:
      "how long work in flight may go on after SIGTERM; keep it below the pod's terminationGracePeriodSeconds",
    parse: duration('0s', '1h'),
  },
  'log-level': {
    placeholder: 'LEVEL',
    env: 'REPRISE_LOG_LEVEL',
    default: 'info',
    description: `least level that is logged: ${logLevels.join(', ')}`,
    parse: oneOf(logLevels),
  },
  'log-format': {
    placeholder: 'FORMAT',
    env: 'REPRISE_LOG_FORMAT',
    default: 'json',
    description: `how a line is written: ${logFormats.join(', ')}`,
    parse: oneOf(logFormats),
  },
});

/** Reads and validates everything at once. `kinds` are the names of the kinds that this build serves. */
export function readConfig({ argv, env, hasToken }: Surroundings, kinds: readonly string[]): Command {
  const { values, problems, switches } = readFlags(flagsFor(kinds), ['help', 'version'], argv, env);
  if (switches.has('help')) return { do: 'print-help' };
  if (switches.has('version')) return { do: 'print-version' };
  const all = [...problems, ...environmentProblems(env)];
  if (all.length > 0) return { do: 'refuse', problems: all };
  const config: Config = {
    connection: Object.freeze(connectionOf(values.kubeconfig, values.context, { env, hasToken })),
    namespaces: Object.freeze(values.namespaces),
    kinds: Object.freeze(values.kinds),
    metricsBindAddress: Object.freeze(values['metrics-bind-address']),
    healthProbeBindAddress: Object.freeze(values['health-probe-bind-address']),
    maxConcurrentReconciles: values['max-concurrent-reconciles'],
    resyncPeriodMs: values['resync-period'],
    gracefulShutdownTimeoutMs: values['graceful-shutdown-timeout'],
    logLevel: values['log-level'],
    logFormat: values['log-format'],
    instance: (env['POD_NAME'] ?? '') === '' ? hostname() : (env['POD_NAME'] ?? ''),
  };
  return { do: 'run', config: Object.freeze(config) };
}

/** Unsorted output would make equal manifests differ from run to run, so that every resync would write. */
const environmentProblems = (env: Environment): readonly string[] =>
  env['CDK8S_DISABLE_SORT'] === undefined
    ? []
    : [`CDK8S_DISABLE_SORT (environment): expected it to be unset, got ${JSON.stringify(env['CDK8S_DISABLE_SORT'])}`];

/** The order of controller-runtime: what the user names, then the pod's own account, then the kubeconfig at home. */
function connectionOf(
  paths: string | undefined,
  context: string | undefined,
  { env, hasToken }: Pick<Surroundings, 'env' | 'hasToken'>,
): ConnectionConfig {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const isInCluster = paths === undefined && context === undefined && host !== '' && hasToken;
  return isInCluster
    ? { from: 'in-cluster', host, port: env['KUBERNETES_SERVICE_PORT'] ?? '443' }
    : { from: 'kubeconfig', paths, context };
}

/** The text of --help. */
export const helpText = (kinds: readonly string[]): string => `Usage: operator [flags]

Serves custom resources of the kinds ${kinds.join(', ')}. A flag wins over its environment variable [in brackets].

${describeFlags(flagsFor(kinds))}
  --help
      print this and exit
  --version
      print the version and exit

Environment only
  POD_NAME
      name of this instance in events and in the user agent, default the host name
`;
