/**
 * A local control plane: real etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and nodes simulated by kwok.
 * kwokctl runs them; this is a thin layer that claims a folder, writes its configuration, and waits by real conditions.
 * Everything listens on 127.0.0.1; the user's kubeconfig is never touched.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import {
  binFolderOf,
  claimFolder,
  folderOf,
  kwokFolderOf,
  ownedByThisProcess,
  removeCluster,
  sweep,
} from './cluster-folder.ts';
import { configurationOf, kwokctl } from './kwokctl.ts';
import type { Component, ExtraArg } from './kwokctl.ts';
import { freePorts } from './ports.ts';
import { runningFrom } from './processes.ts';
import { clusterPrograms, findPrograms } from './programs.ts';
import type { Programs } from './programs.ts';
import { silent } from './progress.ts';
import type { Progress } from './progress.ts';
import { administratorOf, missingFrom, waitUntilReady } from './ready.ts';

export interface ClusterOptions {
  /** @default `reprise-<pid>-<count>`: carries the owner, so that clones and runs never meet */
  readonly name?: string;
  /** Simulated nodes. @default 3 */
  readonly nodes?: number;
  /** Whether the API server writes an audit log (level Metadata): requests can be counted there. @default false */
  readonly audit?: boolean;
  /** Components to leave out, for benches that should not measure them. @default none */
  readonly disable?: readonly Component[];
  /** Flags for single components. @default none */
  readonly extraArgs?: readonly ExtraArg[];
  /** Whether the cluster outlives this process until it is stopped by name. @default false */
  readonly keep?: boolean;
  /** @default silent */
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface LocalCluster extends AsyncDisposable {
  readonly name: string;
  /** Path of the cluster's own kubeconfig; its one context is current. */
  readonly kubeconfig: string;
  /** Address of the API server. */
  readonly server: string;
  /** Everything of the cluster lies below it. */
  readonly workdir: string;
  /** Path of the audit log; only with `audit`. */
  readonly auditLog?: string;
  /** Ends the programs and removes the folder; safe to call twice. */
  stop(): Promise<void>;
}

const startAttempts = 3;
const startTimeoutMs = 60_000;
/** Which of the free ports is the API server's; the order is that of `configurationOf`. */
const apiServerPort = 2;
let count = 0;

/**
 * Starts a cluster and waits until it can be used. What is started and not ready is removed again, also when `signal`
 * aborts. Clusters of owners that are gone are swept first.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<LocalCluster> {
  const progress = options.progress ?? silent;
  const programs = await findPrograms(clusterPrograms, { progress, ...(options.signal && { signal: options.signal }) });
  for (const swept of sweep()) progress.say(`Removed the cluster ${swept}: its owner is gone`);
  const name = options.name ?? `reprise-${process.pid}-${++count}`;
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(name, programs, options);
    } catch (error) {
      // Mostly a port that another starter took between our look and the program's bind.
      if (!(error instanceof ComponentEnded) || attempt === startAttempts) throw error;
      progress.say(`${error.component} ended while starting: trying again with other ports`);
    }
  }
}

/** One component of a cluster ended by itself. */
export class ComponentEnded extends Error {
  readonly component: string;

  constructor(component: string, log: string) {
    super(`${component} ended by itself. The end of its log:\n${log}`);
    this.component = component;
  }
}

async function startOnce(name: string, programs: Programs, options: ClusterOptions): Promise<LocalCluster> {
  const workdir = claimFolder(name, options.keep === true ? 'user' : ownedByThisProcess());
  try {
    const ports = await freePorts(6);
    writeConfiguration(workdir, { name, programs, ports, options });
    await create(name, programs, options.signal);
    const nodes = options.nodes ?? (options.disable?.includes('kwok-controller') === true ? 0 : 3);
    if (nodes > 0) await kwokctl(name, programs, ['scale', 'node', '--replicas', String(nodes)], options.signal);
    const cluster = clusterAt(name, `https://127.0.0.1:${ports[apiServerPort]}`, options.audit === true);
    const expected = { nodes, serviceAccount: options.disable?.includes('kube-controller-manager') !== true };
    const credentials = administratorOf(name);
    const probe = (): Promise<string | undefined> => missingFrom(cluster.server, expected, credentials);
    await waitUntilReady(probe, () => checkAlive(name), startTimeoutMs, options.signal);
    return cluster;
  } catch (error) {
    removeCluster(name);
    throw error;
  }
}

interface Draft {
  readonly name: string;
  readonly programs: Programs;
  readonly ports: readonly number[];
  readonly options: ClusterOptions;
}

function writeConfiguration(workdir: string, { name, programs, ports, options }: Draft): void {
  const auditPolicy = join(workdir, 'audit-policy.json');
  writeFileSync(auditPolicy, JSON.stringify(metadataOfEachRequest));
  const configuration = configurationOf({
    name,
    programs,
    ports,
    disable: options.disable ?? [],
    // kwokctl's own range, 10.0.0.0/24, has room for 254 Services.
    extraArgs: [
      { component: 'kube-apiserver', key: 'service-cluster-ip-range', value: '10.96.0.0/12' },
      ...(options.extraArgs ?? []),
    ],
    ...(options.audit === true ? { auditPolicy } : {}),
  });
  writeFileSync(join(workdir, 'kwokctl.json'), JSON.stringify(configuration, undefined, 2));
}

const metadataOfEachRequest = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

/** kwokctl waits for minutes on a server whose etcd is gone; this ends as soon as one component is. */
async function create(name: string, programs: Programs, signal?: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const signals = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const args = ['create', 'cluster', '--kubeconfig', join(folderOf(name), 'kubeconfig')];
  const watch = setInterval(() => {
    const ended = endedComponent(name);
    if (ended !== undefined) stop.abort(ended);
  }, 100);
  try {
    await kwokctl(name, programs, args, signals);
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearInterval(watch);
  }
}

function checkAlive(name: string): void {
  const ended = endedComponent(name);
  if (ended !== undefined) throw ended;
}

/** A component that kwokctl started (it has a pid file) and that does not run. */
function endedComponent(name: string): ComponentEnded | undefined {
  const folder = kwokFolderOf(name);
  const pids = join(folder, 'pids');
  if (!existsSync(pids)) return undefined;
  const started = readdirSync(pids).map((file) => basename(file, '.pid'));
  const running = new Set(runningFrom(binFolderOf(name)).map(({ program }) => program));
  const ended = started.find((component) => !running.has(component));
  return ended === undefined ? undefined : new ComponentEnded(ended, lastLines(join(folder, 'logs', `${ended}.log`)));
}

function lastLines(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').slice(-5).join('\n') : '(no log)';
}

function clusterAt(name: string, server: string, audit: boolean): LocalCluster {
  const workdir = folderOf(name);
  const stop = (): Promise<void> => {
    removeCluster(name);
    return Promise.resolve();
  };
  return {
    name,
    server,
    workdir,
    kubeconfig: join(workdir, 'kubeconfig'),
    ...(audit ? { auditLog: join(kwokFolderOf(name), 'logs', 'audit.log') } : {}),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
