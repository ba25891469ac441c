/** Answers to everything but watches: a function from state and request to a reply. */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { resourceNameOf } from '../../charts/resource.ts';
import { applyTo, jsonPatchTo, mergePatchTo } from './patch.ts';
import type { ApiRequest } from './request.ts';
import { selects } from './selector.ts';
import { isBuiltIn, type FakeState, type Manager, type Preconditions } from './state.ts';
import { expired, isRefusal, refusal, statusOf, type Refusal } from './status.ts';

export interface Reply {
  readonly code: number;
  readonly body: object;
}

const replyOf = (result: KubeObject | Refusal, code = 200): Reply =>
  isRefusal(result) ? refusalReply(result) : { code, body: result };

export const refusalReply = (refused: Refusal): Reply => ({ code: refused.code, body: statusOf(refused) });

const notFound = (type: ResourceType, name: string): Refusal =>
  refusal(404, 'NotFound', `${resourceNameOf(type)} "${name}" not found`, { name, kind: type.plural });

const conflict = (type: ResourceType, name: string, why: string): Refusal =>
  refusal(409, 'Conflict', `Operation cannot be fulfilled on ${resourceNameOf(type)} "${name}": ${why}`, {
    name,
    kind: type.plural,
  });

/** Items of built-in types come without apiVersion and kind; those of custom resources have them. */
const itemOf = (type: ResourceType, object: KubeObject): unknown => {
  if (!isBuiltIn(type)) return object;
  const { apiVersion: _, kind: __, ...rest } = object;
  return rest;
};

/** Where a list in pages goes on, and as of which version. */
interface Token {
  readonly version: number;
  readonly from: number;
}

const list = (state: FakeState, request: ApiRequest, asOf: number): Reply => {
  const { query, type } = request;
  const encoded = query.get('continue');
  const token: Token =
    encoded === null ? { version: asOf, from: 0 } : (JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Token);
  if (encoded !== null && token.version < state.oldest) return refusalReply(expired(token.version, state.oldest));
  const selection = {
    namespace: request.namespace,
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: query.get('fieldSelector') ?? undefined,
  };
  const all = state.list(type, token.version).filter(selects(selection));
  const to = query.has('limit') ? token.from + Number(query.get('limit')) : all.length;
  const rest: Token = { version: token.version, from: to };
  const metadata = {
    resourceVersion: String(token.version),
    ...(to < all.length && { continue: Buffer.from(JSON.stringify(rest)).toString('base64url') }),
  };
  const items = all.slice(token.from, to).map((object) => itemOf(type, object));
  return { code: 200, body: { apiVersion: 'v1', kind: `${type.kind}List`, metadata, items } };
};

const failedPrecondition = (live: KubeObject, preconditions: Preconditions | undefined): string | undefined => {
  for (const field of ['uid', 'resourceVersion'] as const) {
    const wanted = preconditions?.[field];
    if (wanted !== undefined && wanted !== live.metadata[field]) return `the precondition ${field} does not hold`;
  }
  return undefined;
};

const remove = (state: FakeState, { type, body }: ApiRequest, live: KubeObject): Reply => {
  const options = body === '' ? {} : (JSON.parse(body) as { readonly preconditions?: Preconditions });
  const failed = failedPrecondition(live, options.preconditions);
  if (failed !== undefined) return refusalReply(conflict(type, live.metadata.name, failed));
  const result = state.delete(type, live);
  if (state.get(type, live.metadata.namespace, live.metadata.name) !== undefined) return replyOf(result);
  const details = { name: live.metadata.name, kind: type.plural, uid: live.metadata.uid };
  return { code: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
};

const managerOf = ({ verb, query }: ApiRequest): Manager => ({
  manager: query.get('fieldManager') ?? 'unknown',
  operation: verb === 'apply' ? 'Apply' : 'Update',
  ...(verb === 'status' && { subresource: 'status' }),
});

/** Of the metadata only the version counts here: the real server ignores a uid. */
const patchStatus = (state: FakeState, request: ApiRequest, live: KubeObject): Reply => {
  const { type, body } = request;
  const patch = JSON.parse(body) as { readonly metadata?: Preconditions; readonly status?: unknown };
  const { resourceVersion } = patch.metadata ?? {};
  const failed = failedPrecondition(live, resourceVersion === undefined ? {} : { resourceVersion });
  if (failed !== undefined) return refusalReply(conflict(type, live.metadata.name, failed));
  const change = { status: patch.status };
  return replyOf(state.update(type, live, (object) => mergePatchTo(object, change), managerOf(request)));
};

const patch = (state: FakeState, request: ApiRequest, live: KubeObject): Reply => {
  const { type, body } = request;
  try {
    return replyOf(
      state.update(type, live, (object) => jsonPatchTo(object, JSON.parse(body) as never), managerOf(request)),
    );
  } catch (error) {
    return refusalReply(refusal(422, 'Invalid', (error as Error).message));
  }
};

const apply = (state: FakeState, request: ApiRequest, live: KubeObject | undefined): Reply => {
  const given = JSON.parse(request.body) as KubeObject;
  const manager = managerOf(request);
  if (live === undefined) return replyOf(state.create(request.type, given, manager), 201);
  return replyOf(state.update(request.type, live, (object) => applyTo(object, given), manager));
};

/** `asOf` is the present, or the past for a server that is behind. */
export const handle = (state: FakeState, request: ApiRequest, asOf: number): Reply => {
  const { verb, type, namespace, name } = request;
  if (verb === 'list') return list(state, request, asOf);
  if (verb === 'create') {
    const given = JSON.parse(request.body) as KubeObject;
    const inNamespace = { ...given, metadata: { ...given.metadata, ...(namespace !== undefined && { namespace }) } };
    return replyOf(state.create(type, inNamespace, managerOf(request)), 201);
  }
  const live = state.get(type, namespace, name ?? '');
  if (verb === 'apply') return apply(state, request, live);
  if (live === undefined) return refusalReply(notFound(type, name ?? ''));
  if (verb === 'delete') return remove(state, request, live);
  if (verb === 'status') return patchStatus(state, request, live);
  return verb === 'patch' ? patch(state, request, live) : replyOf(live);
};
