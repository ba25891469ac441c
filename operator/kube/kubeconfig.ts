/**
 * The connection of a laptop: a kubeconfig with contexts, client certificates and exec plugins, through the loader of
 * @kubernetes/client-node, which is imported only here and only when needed (half a second and 60 MB).
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
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
/** Some plugins open a browser and wait for a person. */
const credentialsMs = 120_000;

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';

/** The loader knows every way to authenticate but one: `tokenFile` of a user. Absolute paths by user. */
const tokenFilesOf = async (path: string): Promise<ReadonlyMap<string, string>> => {
  const text = await readFile(path, 'utf8');
  if (!text.includes('tokenFile')) return new Map();
  const { parse } = await import('yaml');
  const { users } = parse(text) as {
    users?: readonly { name: string; user?: { tokenFile?: string; token?: string } }[];
  };
  // As in kubectl, a token in the kubeconfig itself comes first.
  const named = (users ?? []).filter(({ user }) => user?.tokenFile !== undefined && user.token === undefined);
  return new Map(named.map(({ name, user }) => [name, resolve(dirname(path), user?.tokenFile ?? '')]));
};

interface Loaded {
  readonly config: KubeConfig;
  readonly tokenFiles: ReadonlyMap<string, string>;
}

const load = async (paths: readonly string[]): Promise<Loaded> => {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const whole = new KubeConfig();
  const tokenFiles = new Map<string, string>();
  for (const [index, path] of paths.entries()) {
    const part = index === 0 ? whole : new KubeConfig();
    try {
      part.loadFromFile(path);
      for (const [user, file] of await tokenFilesOf(path)) tokenFiles.set(user, file);
    } catch (error) {
      throw new KubeconfigError(`kubeconfig ${path} cannot be read: ${firstLine(error)}`, { cause: error });
    }
    if (part !== whole) whole.mergeConfig(part);
  }
  return { config: whole, tokenFiles };
};

const pathsOf = (path: string | undefined): string[] => {
  const named = (path ?? join(homedir(), '.kube', 'config')).split(delimiter).filter((part) => part !== '');
  const there = named.filter((part) => existsSync(part));
  if (there.length > 0) return there;
  throw new KubeconfigError(`no kubeconfig at ${named.join(', ')}; set KUBECONFIG or pass --kubeconfig`);
};

const isSet = (value: string | null | undefined): boolean => value !== undefined && value !== null && value !== '';

const selectContext = (config: KubeConfig, wanted: string | undefined, where: string): string => {
  const names = config.contexts.map((context) => context.name);
  const known = names.length === 0 ? 'it has no contexts' : `it has: ${names.join(', ')}`;
  const name = wanted ?? config.currentContext;
  if (typeof name !== 'string' || name === '') {
    throw new KubeconfigError(`kubeconfig ${where} sets no current-context; choose one with --context (${known})`);
  }
  const context = config.contexts.find((each) => each.name === name);
  if (context === undefined) throw new KubeconfigError(`kubeconfig ${where} has no context "${name}" (${known})`);
  const refuse = (why: string): never => {
    throw new KubeconfigError(`kubeconfig ${where}: context "${name}" ${why}`);
  };
  const cluster = config.getCluster(context.cluster);
  if (cluster === null) return refuse(`names cluster "${context.cluster}", which is not there`);
  // client-node's type says that there always is one.
  const userName = context.user as string | undefined;
  if (userName === undefined) return refuse('names no user');
  const user = config.getUser(userName);
  if (user === null) return refuse(`names user "${userName}", which is not there`);
  // Ignoring these would connect elsewhere, or as somebody with other rights.
  if (isSet(cluster.proxyUrl)) return refuse('goes through a proxy-url, which is not supported');
  if (isSet(user.impersonateUser)) return refuse('impersonates another user ("as"), which is not supported');
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

/** A plugin that waits for an answer that nobody gives would hold up every request for ever. */
const within = async (limitMs: number, clock: Clock, work: Promise<void>): Promise<void> => {
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`the exec plugin did not answer within ${limitMs / 1000} s`);
    cancel = clock.after(limitMs, () => reject(error));
  });
  await Promise.race([work, late]).finally(() => cancel());
};

const credentialsOf = async ({ config, tokenFiles }: Loaded, clock: Clock): Promise<Credentials> => {
  const options: Filled = {};
  const tokenFile = tokenFiles.get(config.getCurrentUser()?.name ?? '');
  let token: string | undefined;
  try {
    token = tokenFile === undefined ? undefined : `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`;
    await within(credentialsMs, clock, config.applyToHTTPSOptions(options));
  } catch (error) {
    throw new KubeconfigError(
      `the credentials of context "${config.currentContext}" cannot be had: ${firstLine(error)}`,
      { cause: error },
    );
  }
  const basic = typeof options.auth === 'string' ? `Basic ${Buffer.from(options.auth).toString('base64')}` : undefined;
  const authorization = token ?? options.headers?.Authorization ?? basic;
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
  const { clock = systemClock } = props;
  const paths = pathsOf(props.path);
  const where = paths.join(delimiter);
  let loaded = await load(paths);
  const context = selectContext(loaded.config, props.context, where);
  const server = serverOf(loaded.config, where);
  const current = async (fresh: boolean): Promise<Credentials> => {
    if (server.protocol === 'http:') return { tls: {} };
    if (fresh) {
      loaded = await load(paths);
      selectContext(loaded.config, context, where);
    }
    return credentialsOf(loaded, clock);
  };
  const cache = new CredentialCache(current, clock, askAgainMs);
  return {
    server,
    description: `context ${context} of ${where}`,
    credentials: () => cache.get(),
    renew: (refused) => cache.renew(refused),
  };
};
