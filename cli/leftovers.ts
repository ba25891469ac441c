/** What goes when a custom resource definition is deleted: every resource of that kind, in all namespaces. */
import type { KubeObject, ResourceType } from '../charts/resource.ts';
import { createClient } from '../operator/kube/connect.ts';
import type { Client, ListQuery } from '../operator/kube/client.ts';
import { isNotFound } from '../operator/kube/errors.ts';
import { connectionTo } from './cluster.ts';
import type { ClusterChoice } from './cluster.ts';

/** `namespace/name`, or the name alone for what has no namespace. */
export const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export interface Definition {
  /** Such as `webservers.webserver.example.com`. */
  readonly name: string;
  readonly type: ResourceType;
}

const page = 500;
const limitMs = 15_000;
const shown = 5;

/**
 * One line that names the resources that would go with the definition, but for those in `except`; undefined when there are none.
 * Not being able to look is a reason to warn as well.
 */
export async function lossOf(
  { name, type }: Definition,
  cluster: ClusterChoice,
  except: readonly string[],
): Promise<string | undefined> {
  const known = new Set(except);
  try {
    const names = (await resourcesOf(type, cluster)).filter((each) => !known.has(each));
    return names.length === 0 ? undefined : `deleting the definition ${name} also deletes ${listed(type.kind, names)}`;
  } catch (error) {
    return `cannot look for resources that go with the definition ${name}: ${(error as Error).message}`;
  }
}

function listed(kind: string, names: readonly string[]): string {
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${names.length} ${kind}${names.length === 1 ? '' : 's'} of others: ${names.slice(0, shown).join(', ')}${more}`;
}

/** Names of all resources of the type; none when it is not served. */
async function resourcesOf(type: ResourceType, cluster: ClusterChoice): Promise<readonly string[]> {
  const client = createClient({ connection: await connectionTo(cluster), fieldManager: 'reprise' });
  try {
    return await namesOf(client, type, AbortSignal.timeout(limitMs));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  } finally {
    client.close();
  }
}

async function namesOf(client: Client, type: ResourceType, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  for (let query: ListQuery | undefined = { limit: page }; query !== undefined;) {
    const list = await client.list(type, query, signal);
    names.push(...list.items.map(nameOf));
    query = list.continue === undefined ? undefined : { limit: page, continue: list.continue };
  }
  return names;
}
