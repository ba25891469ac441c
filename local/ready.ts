/** When a local cluster is ready: by what its users need, not by time. */
import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { ask } from './api.ts';
import { kwokFolderOf } from './cluster-folder.ts';

export interface Expected {
  readonly nodes: number;
  /** Whether the controller manager runs: it makes the ServiceAccount without which no pod is admitted. */
  readonly serviceAccount: boolean;
}

/** TLS options of the cluster's administrator. */
export function administratorOf(name: string): SecureContextOptions {
  const pki = join(kwokFolderOf(name), 'pki');
  return {
    ca: readFileSync(join(pki, 'ca.crt')),
    cert: readFileSync(join(pki, 'admin.crt')),
    key: readFileSync(join(pki, 'admin.key')),
  };
}

/** What the cluster still lacks, in words; `undefined` when it is ready. */
export async function missingFrom(
  server: string,
  expected: Expected,
  credentials: SecureContextOptions,
): Promise<string | undefined> {
  const fetchJson = async (path: string): Promise<unknown> => {
    const { status, body } = await ask(new URL(path, server), credentials);
    return status === 200 ? JSON.parse(body) : undefined;
  };
  if ((await ask(new URL('/readyz', server), credentials)).status !== 200) return 'the API server is not ready';
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  if (expected.serviceAccount && (await fetchJson(account)) === undefined) return 'no ServiceAccount in default';
  if (expected.nodes === 0) return undefined;
  const nodes = readyNodes(await fetchJson('/api/v1/nodes'));
  return nodes >= expected.nodes ? undefined : `${nodes} of ${expected.nodes} nodes are ready`;
}

/** Waits until the cluster is ready. `checkAlive` throws when one of its programs is gone. */
export async function waitUntilReady(
  probe: () => Promise<string | undefined>,
  checkAlive: () => void,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    checkAlive();
    signal?.throwIfAborted();
    const missing = await probe().catch((error: unknown) => (error as Error).message);
    if (missing === undefined) return;
    if (Date.now() > end) throw new Error(`The cluster is not ready after ${timeoutMs / 1000} s: ${missing}`);
    await delay(50, undefined, signal === undefined ? {} : { signal });
  }
}

interface NodeList {
  readonly items?: readonly {
    readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
  }[];
}

function readyNodes(list: unknown): number {
  const items = (list as NodeList | undefined)?.items ?? [];
  const isReady = ({ type, status }: { type: string; status: string }): boolean =>
    type === 'Ready' && status === 'True';
  return items.filter((node) => node.status?.conditions?.some(isReady)).length;
}
