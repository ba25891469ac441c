/** What the provider answers to the engine's calls. Plain JSON in, plain JSON out; the wire is in server.ts. */
import { systemClock } from '../../operator/clock.ts';
import { openObjects, problemsOf } from './configure.ts';
import type { Configured } from './configure.ts';
import { changesBetween, keepsItsName } from './diff.ts';
import type { Change } from './diff.ts';
import type { Stored } from './identity.ts';
import { textAt } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import { Narrator } from './narrator.ts';
import type { Call, Objects } from './objects.ts';
import { unknownValue } from './protocol.ts';

export interface Failure {
  readonly property: string;
  readonly reason: string;
}

export interface Difference {
  readonly changes: readonly Change[];
  readonly deleteBeforeReplace: boolean;
}

/** The part of a request that all calls about one resource share. */
export interface Target {
  readonly urn: string;
  readonly inputs: JsonObject;
  /** 0: not said. */
  readonly timeoutSeconds: number;
}

/** Serves one operation of one engine at a time. */
export class Handlers {
  readonly #narrator = new Narrator();
  #engine = '';
  #operation = new AbortController();
  #configured: Configured | undefined;
  #arguments: JsonObject | undefined;

  /** An engine takes over. The same one does so again for each of its providers; after a Cancel, for its next operation. */
  attach(engine: string): void {
    if (engine === this.#engine && !this.#operation.signal.aborted) return;
    this.#engine = engine;
    this.#forget();
    this.#operation = new AbortController();
    this.#narrator.attach(engine);
  }

  cancel(): void {
    this.#operation.abort(new Error('cancelled'));
  }

  /** Also opens the kubeconfig, so that a mistake in it is told once and not with every resource. */
  async checkConfig(args: JsonObject): Promise<readonly Failure[]> {
    const problems = problemsOf(args);
    if (problems.length > 0 || !isKnown(args)) return problems;
    try {
      (await openObjects(args, systemClock)).close();
      return [];
    } catch (error) {
      // Not under the property's name: the engine would print its value, which may hold credentials.
      return [{ property: '', reason: (error as Error).message }];
    }
  }

  /** The engine may start one provider for the old and one for the new settings; both come to this server. */
  async configure(args: JsonObject): Promise<void> {
    if (this.#arguments !== undefined && JSON.stringify(this.#arguments) !== JSON.stringify(args)) {
      throw new Error(
        'the stand-in provider serves one cluster at a time: destroy the stack before it moves to another',
      );
    }
    this.#arguments = args;
    this.#configured ??= await openObjects(args, systemClock);
  }

  /** Kinds of the provider that are no Kubernetes objects (Helm, Kustomize, …) are refused here. */
  check(inputs: JsonObject): readonly Failure[] {
    const missing = ['apiVersion', 'kind'].filter((key) => textAt(inputs, key) === '');
    const nameless = textAt(inputs, 'metadata', 'name') === '';
    return [
      ...missing.map((property) => ({
        property,
        reason: 'is missing; the stand-in provider takes Kubernetes objects only',
      })),
      ...(nameless
        ? [{ property: 'metadata.name', reason: 'is missing; the stand-in provider makes up no names' }]
        : []),
    ];
  }

  diff(oldInputs: JsonObject, news: JsonObject): Difference {
    const changes = changesBetween(oldInputs, news);
    return { changes, deleteBeforeReplace: changes.some((change) => change.replace) && keepsItsName(oldInputs, news) };
  }

  async create(target: Target, preview: boolean): Promise<Stored> {
    if (!preview) return this.#objects().create(this.#call(target));
    if (isKnown(target.inputs)) await this.#objects().tryCreate(this.#call(target));
    return computed(target.inputs);
  }

  async update(target: Target, old: JsonObject, preview: boolean): Promise<Stored> {
    if (!preview) return this.#objects().update(this.#call(target), old);
    if (isKnown(target.inputs)) await this.#objects().tryUpdate(this.#call(target));
    return {
      id: '',
      inputs: target.inputs,
      state: { ...old, ...target.inputs, metadata: mergedMetadata(old, target.inputs) },
    };
  }

  async read(target: Target, old: JsonObject): Promise<Stored | undefined> {
    if (textAt(target.inputs, 'kind') === '')
      throw new Error('the stand-in provider cannot import: use the real one for that');
    return this.#objects().read(this.#call(target), old);
  }

  async delete(target: Target, old: JsonObject): Promise<void> {
    await this.#objects().delete(this.#call(target), old);
  }

  close(): void {
    this.cancel();
    this.#forget();
    this.#narrator.close();
  }

  #forget(): void {
    this.#configured?.close();
    this.#configured = undefined;
    this.#arguments = undefined;
  }

  #objects(): Objects {
    if (this.#configured === undefined) throw new Error('the provider has no usable cluster configuration yet');
    return this.#configured.objects;
  }

  #call(target: Target): Call {
    return {
      urn: target.urn,
      inputs: target.inputs,
      timeoutMs: target.timeoutSeconds > 0 ? target.timeoutSeconds * 1000 : undefined,
      signal: this.#operation.signal,
      report: (status) => this.#narrator.report(target.urn, status),
    };
  }
}

/** False when a value of another resource is not there yet, as happens in previews. */
function isKnown(value: Json | undefined): boolean {
  if (value === unknownValue) return false;
  return (
    typeof value !== 'object' || value === null || Object.values(value).every((part: Json | undefined) => isKnown(part))
  );
}

/** What a preview knows of an object that is not there yet: what it is to be, and that it will get an identity. */
const computed = (inputs: JsonObject): Stored => ({
  id: '',
  inputs,
  state: { ...inputs, metadata: { ...(inputs.metadata as JsonObject), uid: unknownValue } },
});

const mergedMetadata = (old: JsonObject, inputs: JsonObject): JsonObject => ({
  ...(inputs.metadata as JsonObject),
  uid: textAt(old, 'metadata', 'uid'),
});
