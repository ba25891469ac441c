/** The loop body: one resource, from what the caches hold to what should be. Idempotent; the key is all it is told. */
import type { Resource, StatusInput } from '../../crds/kind.ts';
import { isConflict, isNotFound, messageOf } from '../kube/errors.ts';
import { ensureChildren } from './children.ts';
import { isSameJson, shortHash } from './canonical.ts';
import type { Problem } from './memory.ts';
import { observedOf } from './observed.ts';
import { bounded, done, reasonOf, Superseded, Terminal, type Outcome } from './outcome.ts';
import { newWork, type Parts, type Pass } from './parts.ts';
import { RenderError, type Desired } from './render.ts';
import { mergePatch, statusOf, storedConditionsOf, storedStatusOf } from './status.ts';

/** `namespace/name`, as the queue carries it. */
export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

const partsOfKey = (key: string): readonly [string, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
};

/**
 * Brings the children of a resource about and writes its status, also when the first did not work. Makes no request when
 * nothing is left to do. Throws for what may pass (the caller retries), and Terminal for what will not.
 */
export async function reconcile(key: string, parts: Parts, signal: AbortSignal): Promise<Outcome> {
  const resource = find(key, parts);
  if (resource?.metadata.deletionTimestamp !== undefined || resource === undefined) {
    // The garbage collector takes the children: their owner references say so.
    parts.memory.forget(key);
    return done;
  }
  const notes = parts.memory.of(key, resource.metadata.uid);
  const fingerprint = fingerprintOf(resource, parts);
  const settled = notes.settledAs(fingerprint, parts.clock.now());
  if (settled !== undefined) {
    parts.log.debug('nothing has changed');
    return waitUntil(settled.until, parts);
  }
  const pass: Pass = { ...parts, resource, notes, signal, work: newWork() };
  const desired = render(pass);
  if (desired !== undefined) await ensureChildren(desired, pass);
  await report(pass);
  if (pass.work.failure !== undefined) throw pass.work.failure.error;
  // The versions from before: what came meanwhile, our own writes included, makes others of them and brings its own look.
  notes.settle({ fingerprint, until: pass.work.retryAt });
  return conclude(pass);
}

/** What the API server has stored under the CRD has the shape of its schema. */
const find = (key: string, parts: Parts): Resource | undefined =>
  parts.primary.get(...partsOfKey(key)) as Resource | undefined;

/** The versions of everything that a pass looks at: rendering and observing are pure, so equal versions give equal ends. */
function fingerprintOf(resource: Resource, { children }: Parts): string {
  const versions = [resource.metadata.resourceVersion ?? ''];
  for (const cache of children.all) {
    for (const child of cache.ownedBy(resource.metadata.uid)) versions.push(child.metadata.resourceVersion ?? '');
    versions.push('');
  }
  return versions.join(' ');
}

const waitUntil = (until: number | undefined, { clock }: Parts): Outcome =>
  until === undefined ? done : { then: 'requeueAfter', delayMs: Math.max(0, until - clock.now()) };

/** Undefined when there is nothing to go by: then the children stay as they are. */
function render(pass: Pass): readonly Desired[] | undefined {
  try {
    return pass.renderer.render(pass.resource);
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    pass.work.problems.push({ reason: error.reason, message: bounded(error.message) });
    pass.work.isTerminal = true;
    pass.log.debug('rendering failed', { fault: error.fault, stack: stackOf(error) });
    return undefined;
  }
}

const stackOf = (error: Error): string | undefined => (error.cause instanceof Error ? error.cause.stack : error.stack);

/** A failure that may pass is not worth a condition at first: it would only make the status flap. */
const patience = 5;

function problemOf({ work, failures }: Pass): Problem | undefined {
  const [first] = work.problems;
  if (first !== undefined) {
    return { reason: first.reason, message: bounded(work.problems.map(({ message }) => message).join('; ')) };
  }
  if (work.failure === undefined || failures < patience) return undefined;
  const { at, error } = work.failure;
  if (error instanceof Superseded || isConflict(error)) return undefined;
  return { reason: reasonOf(error, 'ApplyFailed'), message: bounded(`${at}: ${messageOf(error)}`) };
}

/** Observes from the cache and stores what it says, if that is not what is stored. */
async function report(pass: Pass): Promise<void> {
  const { resource, clock, log, work } = pass;
  const observed = observe(pass);
  const problem = problemOf(pass);
  const wanted = statusOf(resource, observed, problem, clock.now());
  const patch = mergePatch(storedStatusOf(resource), wanted);
  if (problem !== undefined && isNews(problem, resource)) tell(problem, pass);
  const isWritten = patch !== undefined && (await writeStatus(patch, wanted, pass));
  const { created, applied, pruned } = work;
  if (isWritten || created.length + applied.length + pruned.length > 0) {
    log.info('reconciled', { created, applied, pruned, status: isWritten });
  } else log.debug('nothing to do');
}

function observe(pass: Pass): StatusInput<Record<string, unknown>> | undefined {
  try {
    return pass.kind.observe(pass.resource, observedOf(pass.resource, pass.children));
  } catch (error) {
    pass.work.problems.push({ reason: 'ObserveFailed', message: bounded(`observing failed: ${messageOf(error)}`) });
    pass.work.isTerminal = true;
    return undefined;
  }
}

/** Not said again while the stored condition says it: not at each retry, and not after a restart. */
function isNews(problem: Problem, resource: Resource): boolean {
  const stored = storedConditionsOf(resource).find(({ type }) => type === 'Degraded');
  return stored?.status !== 'True' || stored.reason !== problem.reason || stored.message !== problem.message;
}

function tell({ reason, message }: Problem, { log, recorder, resource }: Pass): void {
  log.warn('the resource is degraded', { reason, detail: message });
  const action = reason === 'RenderFailed' ? 'Render' : reason === 'ObserveFailed' ? 'Observe' : 'Apply';
  recorder.event(resource, { type: 'Warning', reason, action, note: message });
}

const statusLeftover = 'status';

/** With the resource's UID and version as preconditions: what was judged is what is written to. Says whether it wrote. */
async function writeStatus(
  patch: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
  pass: Pass,
): Promise<boolean> {
  const { kind, primary, client, resource, notes, signal } = pass;
  const { namespace, name, uid, resourceVersion } = resource.metadata;
  // The schema prunes what it does not know; what is left of such a status is as good as it gets.
  const leftover = notes.leftover(statusLeftover);
  if (leftover !== undefined && leftover === leftoverOf(storedStatusOf(resource), wanted)) return false;
  const body = { metadata: { uid, resourceVersion }, status: patch };
  try {
    const answer = (await client.patchStatus(kind, { namespace, name }, body, signal)) as Resource;
    primary.written(answer);
    pass.observer.written(pass.name, 'status');
    const stored = storedStatusOf(answer);
    const isWhole = isSameJson(stored, wanted);
    notes.setLeftover(statusLeftover, isWhole ? undefined : leftoverOf(stored, wanted));
    return true;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
    throw new Superseded('the resource has changed meanwhile', { cause: error });
  }
}

const leftoverOf = (stored: unknown, wanted: unknown): string => shortHash([stored, wanted]);

function conclude(pass: Pass): Outcome {
  const [problem] = pass.work.problems;
  if (pass.work.isTerminal && problem !== undefined) throw new Terminal(problem.reason, problem.message);
  return waitUntil(pass.work.retryAt, pass);
}
