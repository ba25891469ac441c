/** All children of one resource: each brought about, whatever becomes of the others; then what is too much removed. */
import type { KubeObject } from '../../charts/resource.ts';
import type { OwnedType } from '../../crds/owned.ts';
import {
  isApiError,
  isBadRequest,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isNotServed,
} from '../kube/errors.ts';
import { delayMs, type Pace } from '../queue/backoff.ts';
import { ensureChild, ForeignError, PredecessorError } from './child.ts';
import type { Block, Problem } from './memory.ts';
import { bounded, isUnreachable } from './outcome.ts';
import { refOf, type Pass } from './parts.ts';
import { childKey, type Desired } from './render.ts';
import { renderInputsOf } from './renderer.ts';

/** What takes a person is looked at again now and then: others may have put it right. */
const blockedPace: Pace = { baseMs: 30_000, maxMs: 5 * 60_000 };

/** The garbage collector is about to free the name. Looking costs nothing while the cache holds the object. */
const predecessorMs = 500;

/** Throws only when the server cannot be reached or the run is cut off; all else is noted in `pass.work`. */
export async function ensureChildren(desired: readonly Desired[], pass: Pass): Promise<void> {
  for (const child of desired) await ensureOne(child, pass);
  // Of two names for one thing the old one goes when the new one is there, not before.
  const isComplete = pass.work.failure === undefined && pass.work.retryAt === undefined;
  if (isComplete) await prune(desired, pass);
}

async function ensureOne(child: Desired, pass: Pass): Promise<void> {
  const block = pass.notes.block(child.key);
  const isSame = block?.hash === child.hash && block.inputs === renderInputsOf(pass.resource);
  if (block !== undefined && isSame && block.until > pass.clock.now()) {
    note(block, pass);
    return;
  }
  try {
    await ensureChild(child, pass);
    pass.notes.setBlock(child.key, undefined);
  } catch (error) {
    if (error instanceof PredecessorError) retryIn(predecessorMs, pass);
    else noteFailure(child, error, { pass, tries: isSame ? block.tries + 1 : 1 });
  }
}

function noteFailure(child: Desired, error: unknown, at: { readonly pass: Pass; readonly tries: number }): void {
  const { pass, tries } = at;
  if (pass.signal.aborted || isUnreachable(error)) throw error;
  const problem = problemOf(child, error);
  if (problem === undefined && !isEndOfNamespace(error)) {
    pass.work.failure ??= { at: child.id, error };
    return;
  }
  const block: Block = {
    hash: child.hash,
    inputs: renderInputsOf(pass.resource),
    tries,
    until: pass.clock.now() + delayMs(blockedPace, tries, pass.random),
    ...(problem !== undefined && { problem }),
  };
  pass.notes.setBlock(child.key, block);
  note(block, pass);
}

function retryIn(delay: number, { work, clock }: Pass): void {
  work.retryAt = Math.min(clock.now() + delay, work.retryAt ?? Infinity);
}

function note(block: Block, { work }: Pass): void {
  work.retryAt = Math.min(block.until, work.retryAt ?? Infinity);
  if (block.problem !== undefined) work.problems.push(block.problem);
}

/** Failures that do not pass by themselves. */
function problemOf(child: Desired, error: unknown): Problem | undefined {
  if (error instanceof ForeignError) return { reason: error.reason, message: bounded(error.message) };
  const reason = refusalOf(error);
  if (reason === undefined || !isApiError(error)) return undefined;
  return { reason, message: bounded(`${child.id} was refused: ${error.message}`) };
}

const tooLarge = 413;

function refusalOf(error: unknown): string | undefined {
  if (isEndOfNamespace(error)) return undefined;
  if (isForbidden(error)) return 'Forbidden';
  const isRefused = isInvalid(error) || isBadRequest(error) || (isApiError(error) && error.status === tooLarge);
  return isRefused ? 'Invalid' : undefined;
}

/** Nothing can be made in a namespace that goes away, and nothing has to be said about it. */
const isEndOfNamespace = (error: unknown): boolean =>
  isNamespaceTerminating(error) || (isNotFound(error) && !isNotServed(error));

async function prune(desired: readonly Desired[], pass: Pass): Promise<void> {
  const wanted = new Set(desired.map(({ key }) => key));
  for (const type of pass.children.types) {
    for (const live of pass.children.ownedBy(pass.resource, type)) {
      const isUnwanted = !wanted.has(childKey(type, live.metadata.name));
      if (isUnwanted && live.metadata.deletionTimestamp === undefined) await remove(type, live, pass);
    }
  }
}

/** Never by name alone: an object that took the name meanwhile is another one. */
async function remove(type: OwnedType, live: KubeObject, pass: Pass): Promise<void> {
  const { name, namespace = '', uid = '' } = live.metadata;
  const id = `${type.kind} ${name}`;
  try {
    await pass.client.delete(type, refOf(type, live), { uid, propagationPolicy: 'Background' }, pass.signal);
  } catch (error) {
    if (pass.signal.aborted || isUnreachable(error)) throw error;
    pass.work.failure ??= { at: id, error };
    return;
  }
  pass.children.of(type).deleted(namespace, name, uid);
  pass.observer.written(pass.name, 'delete');
  pass.work.pruned.push(id);
  pass.recorder.event(pass.resource, {
    type: 'Normal',
    reason: 'Pruned',
    action: 'Prune',
    note: `${id} is no longer desired and was deleted`,
  });
}
