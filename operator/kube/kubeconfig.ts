/**
 * The connection of a laptop: a kubeconfig with contexts, client certificates and exec plugins, through the loader of
 * @kubernetes/client-node, which is imported only here and only when needed (half a second and 60 MB).
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { systemClock, type Clock } from '../clock.ts';
import { CredentialCache, type Connection, type Credentials, type TlsSettings } from './connection.ts';

export interface KubeconfigProps {
  /** A file, or several as in KUBECONFIG. @default ~/.kube/config */
  readonly path?: string;
  /** @default the current context */
  readonly context?: string;
  /** @default the system's */
  readonly clock?: Clock;
}

/** A kubeconfig that cannot be used. The message is one line: what is wrong, where, what to do. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly reason = 'BadKubeconfig';
}

/** Exec plugins say when their token expires and are run again by the loader; asking it often costs file reads. */
const askAgainMs = 10_000;

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';

const load = async (paths: readonly string[]): Promise<KubeConfig> => {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const whole = new KubeConfig();
  for (const [index, path] of paths.entries()) {
    const part = index === 0 ? whole : new KubeConfig();
    try {
      part.loadFromFile(path);
    } catch (error) {
      throw new KubeconfigError(`kubeconfig ${path} cannot be read: ${firstLine(error)}`, { cause: error });
    }
    if (part !== whole) whole.mergeConfig(part);
  }
  return whole;
};

const pathsOf = (path: string | undefined): string[] => {
  const named = (path ?? join(homedir(), '.kube', 'config')).split(delimiter).filter((part) => part !== '');
  const there = named.filter((part) => existsSync(part));
  if (there.length > 0) return there;
  throw new KubeconfigError(`no kubeconfig at ${named.join(', ')}; set KUBECONFIG or pass --kubeconfig`);
};

const selectContext = (config: KubeConfig, wanted: string | undefined, where: string): string => {
  const names = config.contexts.map((context) => context.name);
  const known = names.length === 0 ? 'it has no contexts' : `it has: ${names.join(', ')}`;
  const name = wanted ?? config.currentContext;
  if (typeof name !== 'string' || name === '') {
    throw new KubeconfigError(`kubeconfig ${where} sets no current-context; choose one with --context (${known})`);
  }
  const context = config.contexts.find((each) => each.name === name);
  if (context === undefined) throw new KubeconfigError(`kubeconfig ${where} has no context "${name}" (${known})`);
  for (const [what, entry, present] of [
    ['cluster', context.cluster, config.getCluster(context.cluster) !== null],
    ['user', context.user, config.getUser(context.user) !== null],
  ] as const) {
    if (!present)
      throw new KubeconfigError(`kubeconfig ${where}: context "${name}" names ${what} "${entry}", which is not there`);
  }
  config.setCurrentContext(name);
  return name;
};

const serverOf = (config: KubeConfig, where: string): URL => {
  const cluster = config.getCurrentCluster();
  const url = URL.canParse(cluster?.server ?? '') ? new URL(cluster?.server ?? '') : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new KubeconfigError(
    `kubeconfig ${where}: cluster "${cluster?.name ?? ''}" has no usable server address ("${cluster?.server ?? ''}")`,
  );
};

type Filled = RequestOptions & { headers?: Record<string, string> };

const credentialsOf = async (config: KubeConfig): Promise<Credentials> => {
  const options: Filled = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new KubeconfigError(
      `the credentials of context "${config.currentContext}" cannot be had: ${firstLine(error)}`,
      { cause: error },
    );
  }
  const basic = typeof options.auth === 'string' ? `Basic ${Buffer.from(options.auth).toString('base64')}` : undefined;
  const authorization = options.headers?.Authorization ?? basic;
  const { ca, cert, key, servername, rejectUnauthorized } = options as TlsSettings;
  const tls = { ca, cert, key, servername, rejectUnauthorized };
  return {
    ...(authorization !== undefined && { authorization }),
    tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
  };
};

/**
 * Throws a KubeconfigError when the file, the context, its cluster or its user is not usable. Files and plugins are asked
 * again as time passes, and from scratch after a 401. A plain http server gets no credentials.
 */
export const kubeconfigConnection = async (props: KubeconfigProps): Promise<Connection> => {
  const paths = pathsOf(props.path);
  const where = paths.join(delimiter);
  let config = await load(paths);
  const context = selectContext(config, props.context, where);
  const server = serverOf(config, where);
  const current = async (fresh: boolean): Promise<Credentials> => {
    if (server.protocol === 'http:') return { tls: {} };
    if (fresh) {
      config = await load(paths);
      selectContext(config, context, where);
    }
    return credentialsOf(config);
  };
  const cache = new CredentialCache(current, props.clock ?? systemClock, askAgainMs);
  return {
    server,
    description: `context ${context} of ${where}`,
    credentials: () => cache.get(),
    renew: (refused) => cache.renew(refused),
  };
};
