/** Which cluster a command or a program means. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '../operator/kube/connection.ts';
import { kubeconfigConnection } from '../operator/kube/connect.ts';

export interface ClusterChoice {
  /** Path or contents. @default KUBECONFIG, or else ~/.kube/config */
  readonly kubeconfig?: string;
  /** @default the current context */
  readonly context?: string;
}

/** Throws a KubeconfigError when that is not usable. Does not talk to the server yet. */
export async function connectionTo({ kubeconfig = '', context = '' }: ClusterChoice): Promise<Connection> {
  const chosen = context === '' ? {} : { context };
  const path = kubeconfig === '' ? process.env['KUBECONFIG'] : kubeconfig;
  if (path === undefined || path === '') return kubeconfigConnection(chosen);
  return isContents(path) ? fromContents(path, chosen) : kubeconfigConnection({ ...chosen, path });
}

const isContents = (text: string): boolean => /[\n{]/.test(text) && !existsSync(text);

/** The loader reads files only. Credentials are loaded at once, because the file does not stay. */
async function fromContents(contents: string, chosen: Omit<ClusterChoice, 'kubeconfig'>): Promise<Connection> {
  const folder = await mkdtemp(join(tmpdir(), 'reprise-kubeconfig-'));
  try {
    const path = join(folder, 'config');
    await writeFile(path, contents, { mode: 0o600 });
    const connection = await kubeconfigConnection({ ...chosen, path });
    await connection.credentials();
    return {
      ...connection,
      description: chosen.context ?? 'the given kubeconfig',
      renew: (refused) => Promise.resolve(refused),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
