/**
 * How many requests the API server has answered, told by itself: apiserver_request_total. The metric does not name the client, so
 * whoever counts must be alone on the server, and only types that the server itself has no business with can be counted.
 */
import { resourceNameOf, type ResourceType } from '../charts/resource.ts';
import { samplesOf } from './exposition.ts';

/** `POST deployments.apps`, `PATCH webservers.webserver.example.com/status` to how often. */
export type Requests = ReadonlyMap<string, number>;

/** Server-side apply is counted by the server as APPLY, other patches as PATCH. */
const writeVerbs = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION']);

/** Requests for objects of these types since the server started, failed ones too. No watches: they count when they end. */
export function requestsOf(metrics: string, types: readonly Pick<ResourceType, 'group' | 'plural'>[]): Requests {
  const names = new Set(types.map(resourceNameOf));
  const requests = new Map<string, number>();
  for (const { labels, value } of samplesOf(metrics, 'apiserver_request_total')) {
    const { verb = '', group = '', resource = '', subresource = '' } = labels;
    const name = resourceNameOf({ group, plural: resource });
    if (verb === 'WATCH' || !names.has(name)) continue;
    add(requests, `${verb} ${name}${subresource === '' ? '' : `/${subresource}`}`, value);
  }
  return requests;
}

/** What came between two looks; kinds of requests that did not come are left out. */
export function between(before: Requests, after: Requests): Requests {
  const counts = Array.from(after, ([request, count]) => [request, count - (before.get(request) ?? 0)] as const);
  return new Map(counts.filter(([, count]) => count !== 0));
}

/** Without those that somebody else is known to have made. */
export const without = (all: Requests, others: Requests): Requests => {
  const rest = new Map(all);
  for (const [request, count] of others) add(rest, request, -count);
  return new Map([...rest].filter(([, count]) => count !== 0));
};

export const writesIn = (requests: Requests): number => sum(requests, (verb) => writeVerbs.has(verb));
export const requestsIn = (requests: Requests, verb: 'GET' | 'LIST'): number => sum(requests, (each) => each === verb);

function sum(requests: Requests, isCounted: (verb: string) => boolean): number {
  return Array.from(requests)
    .filter(([request]) => isCounted(request.split(' ', 1)[0] ?? ''))
    .reduce((total, [, count]) => total + count, 0);
}

const add = (requests: Map<string, number>, request: string, count: number): void =>
  void requests.set(request, (requests.get(request) ?? 0) + count);
