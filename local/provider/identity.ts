/** Whose object is it, what is it called, and how to say so. Pure. */
import { createHash } from 'node:crypto';
import { isConflict } from '../../operator/kube/errors.ts';
import type { ApiError } from '../../operator/kube/errors.ts';
import { at, isObject, listAt, textAt } from './json.ts';
import type { JsonObject } from './json.ts';

export interface Stored {
  readonly id: string;
  /** What Pulumi keeps: the inputs and the object's identity. Nothing that others write, so that it stays the same. */
  readonly state: JsonObject;
  readonly inputs: JsonObject;
}

/** One manager a resource, as the real provider has it, so that two stacks never share fields unawares. */
export const managerOf = (urn: string): string =>
  `pulumi-kubernetes-${createHash('sha256').update(urn).digest('hex').slice(0, 8)}`;

const idOf = (object: JsonObject): string =>
  [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')].filter((part) => part !== '').join('/');

export const stored = (inputs: JsonObject, live: JsonObject): Stored => {
  const metadata = at(inputs, 'metadata');
  const uid = textAt(live, 'metadata', 'uid');
  return { id: idOf(live), inputs, state: { ...inputs, metadata: { ...(isObject(metadata) ? metadata : {}), uid } } };
};

export const isGoing = (live: JsonObject): boolean => textAt(live, 'metadata', 'deletionTimestamp') !== '';

export const isManagedBy = (live: JsonObject, manager: string): boolean =>
  listAt(live, 'metadata', 'managedFields').some((entry) => textAt(entry, 'manager') === manager);

export const isOther = (live: JsonObject, known: JsonObject): boolean => {
  const uid = textAt(known, 'metadata', 'uid');
  return uid !== '' && uid !== textAt(live, 'metadata', 'uid');
};

const ownersOf = (live: JsonObject): string => {
  const managers = listAt(live, 'metadata', 'managedFields')
    .filter((entry) => textAt(entry, 'subresource') !== 'status')
    .map((entry) => textAt(entry, 'manager'));
  const release = textAt(live, 'metadata', 'annotations', 'meta.helm.sh/release-name');
  const names = [...new Set([...(release === '' ? [] : [`Helm release ${release}`]), ...managers])];
  return names.length === 0 ? 'an unknown owner' : names.join(', ');
};

/** What a refused create says; the engine puts the resource's name before it. */
export const existsMessage = (live: JsonObject): string =>
  `exists already and belongs to ${ownersOf(live)} (since ${textAt(live, 'metadata', 'creationTimestamp')}). It was left as it is. ` +
  'Remove it with what installed it, or take it into this stack with `pulumi import`, then run again.';

/** The server's refusal as one line; a conflict of server-side apply names the other manager. */
export function refusal(error: ApiError): Error {
  const why = error.message.replaceAll(/\s+/g, ' ');
  return new Error(isConflict(error) ? `was left as it is, because another manager owns fields of it: ${why}` : why, {
    cause: error,
  });
}

export const lingering = (live: JsonObject): string => {
  const finalizers = listAt(live, 'metadata', 'finalizers').map(String).join(', ');
  const remaining = listAt(live, 'status', 'conditions')
    .filter((condition) => textAt(condition, 'status') === 'True')
    .map((condition) => textAt(condition, 'message'))
    .find((message) => message.includes('remain'));
  return remaining ?? (finalizers === '' ? 'is being deleted' : `is being deleted; waits for ${finalizers}`);
};
