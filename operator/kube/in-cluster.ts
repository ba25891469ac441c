/** The connection of a pod: mounted token and CA, both read again because the kubelet rotates them. */
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { systemClock, type Clock } from '../clock.ts';
import { CredentialCache, type Connection, type Credentials } from './connection.ts';

export interface InClusterProps {
  /** KUBERNETES_SERVICE_HOST */
  readonly host: string;
  /** KUBERNETES_SERVICE_PORT */
  readonly port: string | number;
  /** Where the account is mounted. @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly root?: string;
  /** @default the system's */
  readonly clock?: Clock;
}

const rereadMs = 60_000;

const read = async (path: string): Promise<string> => {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const hint = 'is the pod allowed to mount its service account token (automountServiceAccountToken)?';
    throw new Error(`cannot read ${path}; ${hint}`, { cause: error });
  }
};

/** Token and CA are read again every minute, and at once after a 401. */
export const inClusterConnection = (props: InClusterProps): Connection => {
  const root = props.root ?? '/var/run/secrets/kubernetes.io/serviceaccount';
  const load = async (): Promise<Credentials> => {
    const [token, ca] = await Promise.all([read(join(root, 'token')), read(join(root, 'ca.crt'))]);
    return { authorization: `Bearer ${token}`, tls: { ca } };
  };
  const cache = new CredentialCache(load, props.clock ?? systemClock, rereadMs);
  const host = isIPv6(props.host) ? `[${props.host}]` : props.host;
  return {
    server: new URL(`https://${host}:${props.port}`),
    description: `service account at ${root}`,
    credentials: () => cache.get(),
    renew: (refused) => cache.renew(refused),
  };
};
