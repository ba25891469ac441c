/**
 * A local control plane: real etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and nodes simulated by kwok.
 * kwokctl runs them; this is a thin layer that claims a folder, writes its configuration, and waits by real conditions.
 * Everything listens on 127.0.0.1; the user's kubeconfig is never touched.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { claimFolder, folderOf, handToUser, kwokFolderOf, removeCluster, sweep } from './cluster-folder.ts';
import { checkAlive, ComponentEnded, endedComponent, forgetPids } from './components.ts';
import { auditPolicy, configurationOf, kwokctl } from './kwokctl.ts';
import type { Component, ExtraArg, KwokctlConfiguration } from './kwokctl.ts';
import { thisProcess } from './owner.ts';
import { freePorts } from './ports.ts';
import { killAllFrom } from './processes.ts';
import { clusterPrograms, findPrograms } from './programs.ts';
import type { Programs } from './programs.ts';
import { silent } from './progress.ts';
import type { Progress } from './progress.ts';
import { administratorOf, missingFrom, waitUntilReady } from './ready.ts';
import type { Expected } from './ready.ts';

export interface ClusterOptions {
  /** @default `reprise-<pid>-<random>`: carries the owner, so that clones and runs never meet */
  readonly name?: string;
  /** Simulated nodes. @default 3, or 0 where kwok-controller is disabled */
  readonly nodes?: number;
  /** Whether the API server writes an audit log (level Metadata): requests can be counted there. @default false */
  readonly audit?: boolean;
  /** Components to leave out, for benches that should not measure them. @default none */
  readonly disable?: readonly Component[];
  /** Flags for single components. @default none */
  readonly extraArgs?: readonly ExtraArg[];
  /** Whether the cluster outlives this process until it is stopped by name. @default false */
  readonly keep?: boolean;
  /** @default found by `findPrograms` */
  readonly programs?: Programs;
  /** Six ports on 127.0.0.1, asked for at each attempt. @default free ones, chosen at random */
  readonly ports?: () => Promise<readonly number[]>;
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

/**
 * Starts a cluster and waits until it can be used. What is started and not ready is removed again, also when `signal`
 * aborts. Clusters of owners that are gone are swept first.
 * @throws ProgramsMissing when its programs cannot be had; NameTaken when there is a cluster of that name;
 * ComponentEnded when one of its programs does not run
 */
export async function startCluster(options: ClusterOptions = {}): Promise<LocalCluster> {
  const { progress = silent, signal } = options;
  const find = { progress, ...(signal && { signal }) };
  const programs = options.programs ?? (await findPrograms(clusterPrograms, find));
  for (const swept of sweep()) progress.say(`Removed the cluster ${swept}: its owner is gone`);
  const name = options.name ?? `reprise-${process.pid}-${randomBytes(3).toString('hex')}`;
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

/** A cluster that is there, running or not; `undefined` where there is none of that name. */
export function openCluster(name: string): LocalCluster | undefined {
  const configuration = readConfiguration(name);
  if (configuration === undefined) return undefined;
  const { kubeApiserverPort, kubeAuditPolicy } = configuration.options;
  const workdir = folderOf(name);
  const stop = (): Promise<void> => {
    removeCluster(name);
    return Promise.resolve();
  };
  return {
    name,
    server: `https://127.0.0.1:${kubeApiserverPort}`,
    workdir,
    kubeconfig: join(workdir, 'kubeconfig'),
    ...(kubeAuditPolicy === undefined ? {} : { auditLog: join(kwokFolderOf(name), 'logs', 'audit.log') }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts the programs of a cluster again that is there and does not run; its state is kept. */
export async function resumeCluster(name: string, options: Pick<ClusterOptions, 'progress' | 'signal'>): Promise<void> {
  const { progress = silent, signal } = options;
  const programs = await findPrograms(clusterPrograms, { progress, ...(signal && { signal }) });
  killAllFrom(join(kwokFolderOf(name), 'bin'));
  forgetPids(name);
  mkdirSync(join(kwokFolderOf(name), 'pids'));
  await runWatched(name, programs, ['start', 'cluster'], signal);
  // Nodes come back by themselves; how many there are is the cluster's own business.
  await untilReady(name, { nodes: 0, serviceAccount: false }, signal);
}

/** What a running cluster still lacks, in words; `undefined` when it answers. */
export async function missingFromCluster(name: string): Promise<string | undefined> {
  const cluster = openCluster(name);
  if (cluster === undefined) return 'there is no such cluster';
  return missingFrom(cluster.server, { nodes: 0, serviceAccount: false }, administratorOf(name));
}

async function startOnce(name: string, programs: Programs, options: ClusterOptions): Promise<LocalCluster> {
  const { disable = [], signal } = options;
  const workdir = claimFolder(name, thisProcess());
  try {
    const ports = await (options.ports ?? (() => freePorts(6)))();
    writeConfiguration(workdir, configurationFor(name, programs, ports, options));
    await runWatched(name, programs, ['create', 'cluster', '--kubeconfig', join(workdir, 'kubeconfig')], signal);
    const nodes = options.nodes ?? (disable.includes('kwok-controller') ? 0 : 3);
    if (nodes > 0) await kwokctl(name, programs, ['scale', 'node', '--replicas', String(nodes)], signal);
    await untilReady(name, { nodes, serviceAccount: !disable.includes('kube-controller-manager') }, signal);
    if (options.keep === true) handToUser(name);
    const cluster = openCluster(name);
    if (cluster === undefined) throw new Error(`The cluster ${name} was removed while it was starting`);
    return cluster;
  } catch (error) {
    removeCluster(name);
    throw error;
  }
}

function configurationFor(
  name: string,
  programs: Programs,
  ports: readonly number[],
  options: ClusterOptions,
): KwokctlConfiguration {
  return configurationOf({
    name,
    programs,
    ports,
    disable: options.disable ?? [],
    // kwokctl's own range, 10.0.0.0/24, has room for 254 Services.
    extraArgs: [
      { component: 'kube-apiserver', key: 'service-cluster-ip-range', value: '10.96.0.0/12' },
      ...(options.extraArgs ?? []),
    ],
    ...(options.audit === true ? { auditPolicy: join(folderOf(name), 'audit-policy.json') } : {}),
  });
}

const configurationFile = (name: string): string => join(folderOf(name), 'kwokctl.json');

function writeConfiguration(workdir: string, configuration: KwokctlConfiguration): void {
  writeFileSync(join(workdir, 'audit-policy.json'), JSON.stringify(auditPolicy));
  writeFileSync(join(workdir, 'kwokctl.json'), JSON.stringify(configuration, undefined, 2));
}

function readConfiguration(name: string): KwokctlConfiguration | undefined {
  try {
    return JSON.parse(readFileSync(configurationFile(name), 'utf8')) as KwokctlConfiguration;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** kwokctl waits for minutes on a server whose etcd is gone; this ends as soon as one component is. */
async function runWatched(
  name: string,
  programs: Programs,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const stop = new AbortController();
  const signals = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
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

async function untilReady(name: string, expected: Expected, signal: AbortSignal | undefined): Promise<void> {
  const server = openCluster(name)?.server ?? '';
  const credentials = administratorOf(name);
  const probe = (): Promise<string | undefined> => missingFrom(server, expected, credentials);
  await waitUntilReady(probe, () => checkAlive(name), startTimeoutMs, signal);
}
