/** What all legs of a run share: the server, who looks at it, and how. */
import { binFolderOf } from '../local/cluster-folder.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { runningFrom } from '../local/processes.ts';
import { definitionOf, watchesOf } from '../crds/kind.ts';
import { WebServer } from '../crds/webserver/index.ts';
import { createClient, kubeconfigConnection, type ClosableClient } from '../operator/kube/connect.ts';
import type { KubeObject } from '../charts/resource.ts';
import { bodyOf, testApi, type TestApi } from '../test/api.ts';
import { problemsOf } from './answer.ts';
import type { BenchOptions } from './options.ts';
import { requestsOf, type Requests } from './requests.ts';

/** Creates of the load generator under way at a time, and its connections. */
export const creators = 16;

export interface Bench {
  readonly options: BenchOptions;
  readonly kubeconfig: string;
  /** Logs and orders go there; removed with the cluster. */
  readonly folder: string;
  /** The eyes: not the client that is measured. */
  readonly api: TestApi;
  /** The load generator's own. */
  readonly client: ClosableClient;
  readonly pids: ServerPids;
  readonly signal: AbortSignal;
}

export interface ServerPids {
  readonly apiserver: number;
  readonly etcd: number;
}

/** Installs the definition and connects. */
export async function prepare(cluster: LocalCluster, options: BenchOptions, signal: AbortSignal): Promise<Bench> {
  const api = testApi(cluster.kubeconfig);
  await api.establish(definitionOf(WebServer));
  const connection = await kubeconfigConnection({ path: cluster.kubeconfig });
  const client = createClient({ connection, fieldManager: 'bench', limits: { connections: creators } });
  const pids = { apiserver: pidOf(cluster.name, 'kube-apiserver'), etcd: pidOf(cluster.name, 'etcd') };
  return { options, kubeconfig: cluster.kubeconfig, folder: cluster.workdir, api, client, pids, signal };
}

function pidOf(cluster: string, program: string): number {
  const running = runningFrom(binFolderOf(cluster)).find((each) => each.program === program);
  if (running === undefined) throw new Error(`${program} does not run`);
  return running.pid;
}

/** Requests for WebServers and their children that the server has answered since it started. */
export async function countRequests({ api }: Pick<Bench, 'api'>): Promise<Requests> {
  const { text } = bodyOf(await api.request<{ text: string }>('GET', '/metrics'));
  return requestsOf(text, watchesOf(WebServer));
}

/** Throws when the namespace does not hold exactly what `n` WebServers ask for. */
export async function checkAnswer({ api }: Pick<Bench, 'api'>, namespace: string, n: number): Promise<void> {
  const list = async (prefix: string, plural: string): Promise<readonly KubeObject[]> =>
    bodyOf(await api.request<{ items: KubeObject[] }>('GET', `${prefix}/namespaces/${namespace}/${plural}`)).items;
  const problems = problemsOf(
    {
      servers: await list(`/apis/${WebServer.group}/${WebServer.version}`, WebServer.plural),
      deployments: await list('/apis/apps/v1', 'deployments'),
      services: await list('/api/v1', 'services'),
    },
    n,
  );
  if (problems.length > 0) throw new WrongAnswer(problems);
}

/** What was measured is not worth a figure: the work was not done. */
export class WrongAnswer extends Error {
  constructor(problems: readonly string[]) {
    const shown = problems.slice(0, 5).join('; ');
    super(`wrong answer: ${shown}${problems.length > 5 ? `; and ${problems.length - 5} more` : ''}`);
  }
}
