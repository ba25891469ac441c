/** The floor as a process of its own, so that its cost is measured like the operator's. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Errand, FloorOrder } from './floor-order.ts';
import { WebServer } from '../crds/webserver/index.ts';
import type { Worker, WorkerProps } from './worker.ts';

/** Resolves when the floor watches. What it has to write is handed over before. */
export async function startFloor(props: WorkerProps, errands: Readonly<Record<string, Errand>>): Promise<Worker> {
  const { kubeconfig, namespace, concurrency, folder } = props;
  const { group, version, kind, plural, scope } = WebServer;
  const type = { group, version, kind, plural, scope };
  const order: FloorOrder = { kubeconfig, namespace, concurrency, type, byName: errands };
  const path = join(folder, `floor-${namespace}.json`);
  writeFileSync(path, JSON.stringify(order));
  return run(path);
}

async function run(orderPath: string): Promise<Worker> {
  const child = fork(join(import.meta.dirname, 'floor.ts'), [orderPath], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => void (output = (output + chunk.toString('utf8')).slice(-4_000)));
  const ended = once(child, 'close');
  let isAsked = false;
  const crashed = ended.then(([code, signal]) => {
    if (!isAsked) throw new Error(`the floor ended by itself (${String(signal ?? code)}): ${output.trim()}`);
    return new Promise<never>(() => undefined);
  });
  // Whoever waits for the work hears of it; while nobody does, it is no crash of ours.
  crashed.catch(() => undefined);
  const stop = async (): Promise<void> => {
    isAsked = true;
    child.kill('SIGTERM');
    await ended;
  };
  await Promise.race([once(child, 'message'), crashed]);
  return {
    pid: child.pid ?? 0,
    crashed,
    // Its last status is the last thing that it does.
    activity: () => Promise.resolve('done'),
    ownWrites: () => Promise.resolve(0),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
