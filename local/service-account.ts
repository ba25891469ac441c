/**
 * A kubeconfig that authenticates as a ServiceAccount, so that a process on this machine has exactly the rights that were
 * installed. The token is short-lived and written anew before it expires, as the kubelet does with a mounted one.
 */
import { AuthenticationV1TokenRequest, CoreV1Api, V1TokenRequestSpec } from '@kubernetes/client-node';
import type { KubeConfig } from '@kubernetes/client-node';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

export interface ServiceAccountKubeconfig extends Disposable {
  readonly path: string;
}

const lifeSeconds = 3600;
const renewAfterMs = lifeSeconds * 1000 * 0.8;
const retryMs = 30_000;

/** Writes `<folder>/operator.kubeconfig` and keeps its token fresh until disposed of. `admin` may create tokens. */
export async function serviceAccountKubeconfig(
  admin: KubeConfig,
  account: ServiceAccount,
  folder: string,
  warn: (line: string) => void,
): Promise<ServiceAccountKubeconfig> {
  const tokenFile = join(folder, 'operator.token');
  const api = admin.makeApiClient(CoreV1Api);
  const renew = async (): Promise<void> => {
    const { status } = await api.createNamespacedServiceAccountToken({
      ...account,
      body: tokenRequest(),
    });
    if (status?.token === undefined) throw new Error(`no token for the ServiceAccount ${account.name}`);
    writeFileSync(`${tokenFile}.new`, status.token, { mode: 0o600 });
    renameSync(`${tokenFile}.new`, tokenFile);
  };
  await renew();
  const path = join(folder, 'operator.kubeconfig');
  writeFileSync(path, JSON.stringify(kubeconfigOf(admin, tokenFile, account), undefined, 2), { mode: 0o600 });

  let timer: NodeJS.Timeout;
  const schedule = (delayMs: number): void => {
    timer = setTimeout(() => {
      renew().then(
        () => schedule(renewAfterMs),
        (error: unknown) => {
          warn(`The token of ${account.name} could not be renewed, trying again: ${String(error)}`);
          schedule(retryMs);
        },
      );
    }, delayMs).unref();
  };
  schedule(renewAfterMs);
  return { path, [Symbol.dispose]: () => clearTimeout(timer) };
}

function tokenRequest(): AuthenticationV1TokenRequest {
  const spec = Object.assign(new V1TokenRequestSpec(), { audiences: [], expirationSeconds: lifeSeconds });
  return Object.assign(new AuthenticationV1TokenRequest(), { spec });
}

function kubeconfigOf(admin: KubeConfig, tokenFile: string, account: ServiceAccount): unknown {
  const cluster = admin.getCurrentCluster();
  if (cluster === null) throw new Error('the kubeconfig has no current cluster');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'operator',
    contexts: [{ name: 'operator', context: { cluster: 'cluster', user: 'operator', namespace: account.namespace } }],
    clusters: [
      {
        name: 'cluster',
        cluster: {
          server: cluster.server,
          ...(cluster.caData !== undefined && { 'certificate-authority-data': cluster.caData }),
          ...(cluster.caFile !== undefined && { 'certificate-authority': cluster.caFile }),
          ...(cluster.skipTLSVerify && { 'insecure-skip-tls-verify': true }),
          ...(cluster.tlsServerName !== undefined && { 'tls-server-name': cluster.tlsServerName }),
        },
      },
    ],
    users: [{ name: 'operator', user: { tokenFile } }],
  };
}
