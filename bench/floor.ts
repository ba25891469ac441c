/**
 * The floor: the least that has to be done for WebServers, with no logic. It hears of them by the same kind of watch as the operator,
 * creates their children (rendered beforehand) and writes one status. No cache, no comparison, no retry; a failure ends it.
 *
 * Run by floor-process.ts: the one argument is the path of a FloorOrder. Says `ready` to its parent, and ends when told to.
 */
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../charts/resource.ts';
import { createClient, kubeconfigConnection } from '../operator/kube/connect.ts';
import { ownedBy, type FloorOrder } from './floor-order.ts';
import { follow } from './follow.ts';

const stop = new AbortController();
const { signal } = stop;
const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FloorOrder;
const client = createClient({
  connection: await kubeconfigConnection({ path: order.kubeconfig }),
  fieldManager: 'floor',
});
const waiting: KubeObject[] = [];
let workers = 0;

async function serve({ metadata }: KubeObject): Promise<void> {
  const { namespace = '', name, uid = '', resourceVersion } = metadata;
  const errand = order.byName[name];
  if (errand === undefined) throw new Error(`nothing was planned for ${name}`);
  for (const { type, object } of errand.children) await client.create(type, ownedBy(uid, object), signal);
  const patch = { metadata: { uid, resourceVersion }, status: errand.status };
  await client.patchStatus(order.type, { namespace, name }, patch, signal);
}

async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await serve(next);
  workers -= 1;
}

const fail = (error: unknown): never => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
};

// Also when the parent is gone.
for (const event of ['SIGTERM', 'disconnect'] as const) process.once(event, () => process.exit(0));

for await (const { type, object } of follow({ ...order, client, signal, opened: () => process.send?.('ready') })) {
  if (type !== 'ADDED') continue;
  waiting.push(object);
  if (workers === order.concurrency) continue;
  workers += 1;
  work().catch(fail);
}
