/** kwokctl does the work; here is what it is told. https://kwok.sigs.k8s.io/docs/user/configuration/ */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';

import { folderOf } from './cluster-folder.ts';
import type { Programs } from './programs.ts';

export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok-controller';

export interface ExtraArg {
  readonly component: Component;
  /** Without the dashes. */
  readonly key: string;
  readonly value: string;
}

export interface KwokctlSettings {
  readonly name: string;
  readonly programs: Programs;
  /** Six free ports. */
  readonly ports: readonly number[];
  readonly disable: readonly Component[];
  readonly extraArgs: readonly ExtraArg[];
  readonly auditPolicy?: string;
}

/** What is read back from the configuration file; the rest is kwokctl's business. */
export interface KwokctlConfiguration {
  readonly options: { readonly kubeApiserverPort: number; readonly kubeAuditPolicy?: string };
}

/** One line for each request: who, what, which answer; no content. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

/** kwokctl's configuration file. */
export function configurationOf(settings: KwokctlSettings): KwokctlConfiguration {
  const { name, programs, disable, extraArgs } = settings;
  const configuration = {
    apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
    kind: 'KwokctlConfiguration',
    options: {
      runtime: 'binary',
      // Without this line everything, etcd without a password included, listens on all addresses.
      bindAddress: '127.0.0.1',
      ...portsOf(settings.ports),
      etcdBinary: programs.etcd,
      kubeApiserverBinary: programs['kube-apiserver'],
      kubeControllerManagerBinary: programs['kube-controller-manager'],
      kubeSchedulerBinary: programs['kube-scheduler'],
      kwokControllerBinary: programs.kwok,
      // Should two starters ever take the same etcd port, neither reads or spoils what the other writes.
      etcdPrefix: `/${name}`,
      ...(disable.length > 0 ? { disable } : {}),
      ...(settings.auditPolicy === undefined ? {} : { kubeAuditPolicy: settings.auditPolicy }),
    },
    componentsPatches: extraArgs.map(({ component, key, value }) => ({ name: component, extraArgs: [{ key, value }] })),
  };
  return configuration;
}

/** Left to itself, kwokctl takes the highest free ports, so that two starters always want the same. */
function portsOf(ports: readonly number[]): { readonly kubeApiserverPort: number; readonly [port: string]: number } {
  const [etcdPort, etcdPeerPort, kubeApiserverPort, kubeControllerManagerPort, kubeSchedulerPort, kwokControllerPort] =
    ports as [number, number, number, number, number, number];
  return {
    etcdPort,
    etcdPeerPort,
    kubeApiserverPort,
    kubeControllerManagerPort,
    kubeSchedulerPort,
    kwokControllerPort,
  };
}

/** Runs kwokctl on one cluster; throws with the end of its output when it fails. */
export async function kwokctl(
  name: string,
  programs: Programs,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const workdir = folderOf(name);
  const child = spawn(programs.kwokctl, [...args, '--name', name, '--config', join(workdir, 'kwokctl.json')], {
    cwd: workdir,
    env: environmentFor(workdir, programs),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal === undefined ? {} : { signal, killSignal: 'SIGKILL' }),
  });
  let output = '';
  const keep = (chunk: Buffer): void => void (output = (output + chunk.toString('utf8')).slice(-4_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`kwokctl ${args.join(' ')} failed (${code ?? 'killed'}): ${output.trim()}`);
}

/** kwokctl takes kubectl from PATH, settings from KWOK_*, and kubectl keeps a cache beside the user's kubeconfig. */
function environmentFor(workdir: string, programs: Programs): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('KWOK_'));
  return {
    ...Object.fromEntries(inherited),
    KWOK_WORKDIR: workdir,
    KUBECONFIG: join(workdir, 'kubeconfig'),
    KUBECACHEDIR: join(workdir, 'kubectl-cache'),
    PATH: [dirname(programs.kubectl), process.env['PATH'] ?? ''].join(delimiter),
  };
}
