/**
 * Create, update, read and delete of one Kubernetes object, as Pulumi means them: an object that another owner made is never
 * taken, what was applied is waited for, what was deleted is gone.
 */
import type { ResourceType } from '../../charts/resource.ts';
import type { Clock } from '../../operator/clock.ts';
import { isApiError, isNotFound } from '../../operator/kube/errors.ts';
import { waitFor } from '../../operator/kube/wait.ts';
import type { Api } from './api.ts';
import { drifted } from './diff.ts';
import { refusal, existsMessage, isGoing, isManagedBy, isOther, lingering, managerOf, stored } from './identity.ts';
import type { Stored } from './identity.ts';
import { textAt } from './json.ts';
import type { JsonObject } from './json.ts';
import { NotReady } from './protocol.ts';
import { readinessOf } from './ready.ts';

/** One call of the engine. */
export interface Call {
  readonly urn: string;
  readonly inputs: JsonObject;
  /** Absent: as long as the kind usually needs at most. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
  /** Shows a passing state, such as `0 of 1 replicas available`. */
  readonly report: (status: string) => void;
}

const readyWithinMs = 10 * 60_000;
const servedWithinMs = 30_000;
const firstPollMs = 50;
const longestPollMs = 1_000;

export interface ObjectsProps {
  readonly api: Pick<Api, 'typeOf' | 'get' | 'apply' | 'delete'>;
  readonly clock: Clock;
  /** Pulumi's `enablePatchForce`: updates take fields over that others set. */
  readonly force: boolean;
}

/** Not yet; tried again after a while. */
class Wait {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

export class Objects {
  readonly #api: ObjectsProps['api'];
  readonly #clock: Clock;
  readonly #force: boolean;

  constructor(props: ObjectsProps) {
    this.#api = props.api;
    this.#clock = props.clock;
    this.#force = props.force;
  }

  /** Fails when the object exists, unless an earlier, interrupted run of the same resource made it. */
  async create(call: Call): Promise<Stored> {
    const type = await this.#served(call);
    const earlier = await this.#ownOrNone(type, call);
    if (earlier !== undefined && isGoing(earlier)) await this.#gone(type, call, earlier);
    const live = await this.#until(call, servedWithinMs, async () => this.#applied(type, call, false));
    return this.#settled(type, call, live);
  }

  /** What a create would say, without doing it. */
  async tryCreate(call: Call): Promise<void> {
    const type = await this.#api.typeOf(call.inputs, call.signal);
    if (type === undefined) return;
    // Our own object of that name is about to be replaced: a dry run would only find its immutable fields.
    if ((await this.#ownOrNone(type, call)) === undefined) await this.#applied(type, call, true);
  }

  /** An object that went missing is made anew; one that somebody else put in its place is left alone. */
  async update(call: Call, old: JsonObject): Promise<Stored> {
    const type = await this.#served(call);
    const live = await this.#api.get(type, call.inputs, call.signal);
    if (live === undefined) return this.create(call);
    if (isOther(live, old)) throw new Error(existsMessage(live));
    return this.#settled(type, call, await this.#apply(type, call, { force: this.#force, dryRun: false }));
  }

  async tryUpdate(call: Call): Promise<void> {
    const type = await this.#api.typeOf(call.inputs, call.signal);
    if (type !== undefined) await this.#apply(type, call, { force: this.#force, dryRun: true });
  }

  /** The inputs as the cluster has them now, or undefined when the object is gone (or is another one of that name). */
  async read(call: Call, old: JsonObject): Promise<Stored | undefined> {
    const type = await this.#api.typeOf(call.inputs, call.signal);
    const live = type && (await this.#api.get(type, call.inputs, call.signal));
    if (type === undefined || live === undefined || isOther(live, old) || isGoing(live)) return undefined;
    const inputs = drifted(call.inputs, await this.#dryRun(type, call), live) as JsonObject;
    return stored(inputs, live);
  }

  /** Returns once the object is gone. Another object of that name stays. */
  async delete(call: Call, old: JsonObject): Promise<void> {
    const type = await this.#api.typeOf(call.inputs, call.signal);
    if (type === undefined) return;
    const live = await this.#api.get(type, call.inputs, call.signal);
    if (live === undefined || isOther(live, old)) return;
    await this.#api.delete(type, call.inputs, textAt(live, 'metadata', 'uid'), call.signal);
    await this.#gone(type, call, live);
  }

  /** Waits for the type, whose CRD another resource of the same run may just have made. */
  async #served(call: Call): Promise<ResourceType> {
    return this.#until(call, servedWithinMs, async () => {
      const type = await this.#api.typeOf(call.inputs, call.signal);
      return (
        type ?? new Wait(`no ${textAt(call.inputs, 'kind')} is served in ${textAt(call.inputs, 'apiVersion')} yet`)
      );
    });
  }

  /** The object that an earlier run of this resource made, if any. Throws when it is somebody else's. */
  async #ownOrNone(type: ResourceType, call: Call): Promise<JsonObject | undefined> {
    const live = await this.#api.get(type, call.inputs, call.signal);
    if (live !== undefined && !isManagedBy(live, managerOf(call.urn))) throw new Error(existsMessage(live));
    return live;
  }

  /** Tells a missing namespace, which may be on its way, from an answer that will not change. */
  async #applied(type: ResourceType, call: Call, dryRun: boolean): Promise<JsonObject | Wait> {
    try {
      return await this.#apply(type, call, { force: false, dryRun });
    } catch (error) {
      if (isNotFound(error)) return new Wait(error.message);
      throw error;
    }
  }

  async #apply(type: ResourceType, call: Call, how: { force: boolean; dryRun: boolean }): Promise<JsonObject> {
    try {
      return await this.#api.apply(type, call.inputs, { fieldManager: managerOf(call.urn), ...how }, call.signal);
    } catch (error) {
      throw isNotFound(error) || !isApiError(error) ? error : refusal(error);
    }
  }

  /** An object that refuses its own inputs (an immutable field was changed behind our back) has drifted for certain. */
  async #dryRun(type: ResourceType, call: Call): Promise<JsonObject> {
    try {
      const how = { fieldManager: managerOf(call.urn), force: true, dryRun: true };
      return await this.#api.apply(type, call.inputs, how, call.signal);
    } catch (error) {
      if (isApiError(error)) return call.inputs;
      throw error;
    }
  }

  /** From here on the object exists: whatever goes wrong, the engine must know of it. */
  async #settled(type: ResourceType, call: Call, applied: JsonObject): Promise<Stored> {
    const result = stored(call.inputs, applied);
    try {
      await this.#until(call, readyWithinMs, async () => {
        const readiness = readinessOf((await this.#api.get(type, call.inputs, call.signal)) ?? {});
        if (readiness.state === 'failed') throw new Error(readiness.why);
        return readiness.state === 'ready' ? true : new Wait(readiness.why);
      });
    } catch (error) {
      throw new NotReady(`is there but not ready: ${(error as Error).message}`, result);
    }
    return result;
  }

  async #gone(type: ResourceType, call: Call, doomed: JsonObject): Promise<void> {
    await this.#until(call, readyWithinMs, async () => {
      const live = await this.#api.get(type, call.inputs, call.signal);
      return live === undefined || isOther(live, doomed) ? true : new Wait(lingering(live));
    });
  }

  /** Polls, slower and slower, until there is something else than a reason to wait. */
  async #until<T>(call: Call, limitMs: number, attempt: () => Promise<T | Wait>): Promise<Exclude<T, Wait>> {
    const patienceMs = call.timeoutMs ?? limitMs;
    const deadline = this.#clock.now() + patienceMs;
    let reported = '';
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, longestPollMs)) {
      const result = await attempt();
      if (!(result instanceof Wait)) return result as Exclude<T, Wait>;
      if (this.#clock.now() > deadline)
        throw new Error(`gave up after ${Math.round(patienceMs / 1000)} s: ${result.why}`);
      if (result.why !== reported) call.report(result.why);
      reported = result.why;
      await waitFor(this.#clock, pollMs, call.signal);
    }
  }
}
