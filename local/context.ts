/** An existing cluster, named by a context of the user's kubeconfig: checked before anything is done to it. */
import { KubeconfigError, kubeconfigConnection } from '../operator/kube/kubeconfig.ts';
import type { Connection } from '../operator/kube/connection.ts';
import { ask } from './api.ts';
import type { Answer } from './api.ts';

export interface ExistingCluster {
  readonly context: string;
  /** Value for KUBECONFIG: a path, or several. `undefined` stands for ~/.kube/config. */
  readonly kubeconfig: string | undefined;
  readonly server: string;
  /** As the server says it: `v1.36.2`. */
  readonly version: string;
}

export interface ContextOptions {
  /** As KUBECONFIG. @default the environment's */
  readonly kubeconfig?: string;
  /** @default 5 s */
  readonly timeoutMs?: number;
}

/** The cluster cannot be used. The message is one line: what is wrong, where, what to do. */
export class ContextUnusable extends Error {}

/** What an installation creates beyond a namespace: who may not do this cannot install an operator. */
const needed = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: '', resource: 'namespaces' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
] as const;

/**
 * Finds the context, asks the server who it is and whether we may install there.
 * @throws ContextUnusable when the kubeconfig does not parse or has no such context, when the server does not answer or
 * does not know us, or when rights are missing
 */
export async function existingCluster(context: string, options: ContextOptions = {}): Promise<ExistingCluster> {
  const kubeconfig = options.kubeconfig ?? process.env['KUBECONFIG'];
  const question = await questioner(context, kubeconfig, options.timeoutMs ?? 5_000);
  const version = (JSON.parse((await question('/version')).body) as { gitVersion?: string }).gitVersion ?? 'unknown';
  const denied = await Promise.all(needed.map((right) => isDenied(right, question)));
  const missing = needed.filter((_, index) => denied[index]).map(({ group, resource }) => [resource, group].join('.'));
  if (missing.length > 0) {
    const list = missing.map((name) => name.replace(/\.$/, '')).join(', ');
    throw new ContextUnusable(
      `Context "${context}" may not create ${list}: use one with the rights of an administrator, or leave --context out`,
    );
  }
  return { context, kubeconfig, server: question.server, version };
}

interface Questioner {
  (path: string, post?: unknown): Promise<Answer>;
  readonly server: string;
}

async function questioner(context: string, kubeconfig: string | undefined, timeoutMs: number): Promise<Questioner> {
  const connection = await connect(context, kubeconfig);
  const { tls, authorization } = await connection.credentials().catch(asUnusable);
  const headers = authorization === undefined ? {} : { authorization };
  const server = connection.server.href;
  const question = async (path: string, post?: unknown): Promise<Answer> => {
    const url = new URL(server.replace(/\/$/, '') + path);
    const answer = await ask(url, { ...tls, headers, timeoutMs, ...(post === undefined ? {} : { post }) }).catch(
      (error: unknown) => {
        const { name, code, message } = error as NodeJS.ErrnoException;
        const reason = name === 'AbortError' ? `no answer within ${timeoutMs / 1000} s` : (code ?? message);
        throw new ContextUnusable(
          `The server of context "${context}" cannot be reached: ${connection.server.origin}: ${reason}`,
          { cause: error },
        );
      },
    );
    if (answer.status >= 200 && answer.status < 300) return answer;
    const what =
      answer.status === 401 ? 'does not accept its credentials (401)' : `answers ${path} with ${answer.status}`;
    throw new ContextUnusable(`The server of context "${context}" ${what}`);
  };
  return Object.assign(question, { server });
}

async function connect(context: string, kubeconfig: string | undefined): Promise<Connection> {
  return kubeconfigConnection({ context, ...(kubeconfig ? { path: kubeconfig } : {}) }).catch(asUnusable);
}

function asUnusable(error: unknown): never {
  if (error instanceof KubeconfigError) throw new ContextUnusable(error.message, { cause: error });
  throw error;
}

async function isDenied(right: (typeof needed)[number], question: Questioner): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { ...right, verb: 'create' } },
  };
  const { body } = await question('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
  return (JSON.parse(body) as { status?: { allowed?: boolean } }).status?.allowed !== true;
}
