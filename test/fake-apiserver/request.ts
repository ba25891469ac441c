/** What a request asks for, in Kubernetes' words. */
import type { ResourceType } from '../../charts/resource.ts';
import { apiVersionOf } from '../../charts/resource.ts';
import type { Verb } from './faults.ts';

export interface ApiRequest {
  readonly verb: Verb;
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  readonly body: string;
}

const path =
  /^\/(?:api\/(?<core>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>[^/]+))?$/;

const verbOf = (
  method: string,
  parts: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  contentType: string,
): Verb => {
  if (parts.sub === 'status') return 'status';
  if (method === 'POST') return 'create';
  if (method === 'DELETE') return 'delete';
  if (method === 'PATCH') return contentType.includes('apply-patch') ? 'apply' : 'patch';
  if (parts.name !== undefined) return 'get';
  return query.get('watch') === 'true' ? 'watch' : 'list';
};

export interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
}

/** Undefined when no such type is served. */
export const apiRequestOf = (raw: RawRequest, types: Iterable<ResourceType>): ApiRequest | undefined => {
  const url = new URL(raw.url, 'http://fake');
  const parts: Readonly<Record<string, string | undefined>> | undefined = path.exec(url.pathname)?.groups;
  if (parts === undefined) return undefined;
  const decoded = Object.fromEntries(
    Object.entries(parts).map(([key, value]) => [key, value === undefined ? undefined : decodeURIComponent(value)]),
  );
  const apiVersion = decoded.core ?? `${decoded.group ?? ''}/${decoded.version ?? ''}`;
  for (const type of types) {
    if (apiVersionOf(type) !== apiVersion || type.plural !== decoded.plural) continue;
    const verb = verbOf(raw.method, decoded, url.searchParams, raw.contentType);
    return { verb, type, namespace: decoded.namespace, name: decoded.name, query: url.searchParams, body: raw.body };
  }
  return undefined;
};
