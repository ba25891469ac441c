/** Whether the components of a cluster run, told by what kwokctl started and what the system shows. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { binFolderOf, kwokFolderOf } from './cluster-folder.ts';
import { runningFrom } from './processes.ts';

/** One component of a cluster ended by itself; the message carries the end of its log. */
export class ComponentEnded extends Error {
  readonly component: string;

  constructor(component: string, log: string) {
    super(`${component} ended by itself. The end of its log:\n${log}`);
    this.component = component;
  }
}

/** Throws ComponentEnded when a component that kwokctl started does not run. */
export function checkAlive(name: string): void {
  const ended = endedComponent(name);
  if (ended !== undefined) throw ended;
}

/** A component that kwokctl started (it wrote a pid file) and that does not run. */
export function endedComponent(name: string): ComponentEnded | undefined {
  const running = new Set(runningFrom(binFolderOf(name)).map(({ program }) => program));
  const ended = startedComponents(name).find((component) => !running.has(component));
  return ended === undefined ? undefined : new ComponentEnded(ended, lastLines(logOf(name, ended)));
}

/** Names of the components that kwokctl started. */
export function startedComponents(name: string): readonly string[] {
  const pids = pidFolderOf(name);
  return existsSync(pids) ? readdirSync(pids).map((file) => basename(file, '.pid')) : [];
}

/**
 * Makes kwokctl forget pids. It takes any process of that number for its own, so after a restart of the machine it would
 * kill strangers or believe that everything runs.
 */
export function forgetPids(name: string): void {
  rmSync(pidFolderOf(name), { recursive: true, force: true });
}

const pidFolderOf = (name: string): string => join(kwokFolderOf(name), 'pids');
const logOf = (name: string, component: string): string => join(kwokFolderOf(name), 'logs', `${component}.log`);

function lastLines(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').slice(-5).join('\n') : '(no log)';
}
