/** From resource types and queries to URLs. */
import type { ResourceType } from '../../charts/resource.ts';
import type { ListQuery, ObjectRef, WatchQuery } from './client.ts';

/** Kubernetes allows many names as a path segment, but none of these. */
const segment = (value: string, what: string): string => {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TypeError(`${JSON.stringify(value)} cannot be the ${what} of an object`);
  }
  return encodeURIComponent(value);
};

/** `/apis/apps/v1/namespaces/shop/deployments`; without a namespace, all of them. */
export const collectionPath = (type: ResourceType, namespace: string | undefined): string => {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope =
    type.scope === 'Namespaced' && namespace !== undefined ? `/namespaces/${segment(namespace, 'namespace')}` : '';
  return `${root}${scope}/${type.plural}`;
};

/** The path of one object. A namespaced type needs a namespace. */
export const objectPath = (type: ResourceType, ref: ObjectRef): string => {
  if (type.scope === 'Namespaced' && ref.namespace === undefined) {
    throw new TypeError(`${type.kind} ${ref.name}: a namespaced object needs a namespace`);
  }
  return `${collectionPath(type, ref.namespace)}/${segment(ref.name, 'name')}`;
};

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** `?a=1&b=2`, or nothing; undefined parameters are left out. */
export const queryString = (parameters: Parameters): string => {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(key, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
};

export const listParameters = (query: ListQuery): string =>
  queryString({
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    limit: query.limit,
    continue: query.continue,
    // The API refuses a resourceVersion beside a continue token: the token carries its own.
    resourceVersion: query.continue === undefined ? query.resourceVersion : undefined,
  });

export const watchParameters = (query: WatchQuery): string =>
  queryString({
    watch: true,
    allowWatchBookmarks: true,
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    resourceVersion: query.resourceVersion,
    timeoutSeconds: query.timeoutSeconds,
    ...(query.sendInitialEvents === true && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
  });
