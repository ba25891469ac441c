/** The requests that the stand-in provider makes: the operator's own transport, Pulumi's field managers. */
import { apiVersionOf } from '../../charts/resource.ts';
import type { ResourceType } from '../../charts/resource.ts';
import type { Clock } from '../../operator/clock.ts';
import { isNotFound } from '../../operator/kube/errors.ts';
import { objectPath, queryString } from '../../operator/kube/paths.ts';
import { Requester } from '../../operator/kube/requester.ts';
import type { Connection } from '../../operator/kube/connection.ts';
import { defaultLimits } from '../../operator/kube/transport.ts';
import { listAt, textAt } from './json.ts';
import type { JsonObject } from './json.ts';

export interface ApplyOptions {
  readonly fieldManager: string;
  /** Take fields over that another manager set. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

export interface ApiProps {
  readonly connection: Connection;
  readonly clock: Clock;
  /** For namespaced objects that name no namespace. */
  readonly namespace: string;
}

/** Throws ApiError for any answer but 2xx and ConnectionError for none; `undefined` stands for an object that is not there. */
export class Api implements Disposable {
  readonly #requester: Requester;
  readonly #namespace: string;
  readonly #types = new Map<string, ResourceType>();

  constructor(props: ApiProps) {
    this.#requester = new Requester({ ...props, limits: defaultLimits, random: Math.random });
    this.#namespace = props.namespace;
  }

  /** The type of an object as the server serves it now, or undefined while its CRD is not there. */
  async typeOf(object: JsonObject, signal: AbortSignal): Promise<ResourceType | undefined> {
    const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
    const key = `${apiVersion}/${kind}`;
    if (!this.#types.has(key)) await this.#discover(apiVersion, signal);
    return this.#types.get(key);
  }

  async get(type: ResourceType, object: JsonObject, signal: AbortSignal): Promise<JsonObject | undefined> {
    return this.#orNothing({ method: 'GET', path: this.#path(type, object) }, signal);
  }

  /** Server-side apply. Unknown fields are an error: what does not take effect must not look installed. */
  async apply(type: ResourceType, object: JsonObject, options: ApplyOptions, signal: AbortSignal): Promise<JsonObject> {
    const { fieldManager, force, dryRun } = options;
    const query = queryString({ fieldManager, force, fieldValidation: 'Strict', ...(dryRun && { dryRun: 'All' }) });
    const exchange = {
      method: 'PATCH',
      path: this.#path(type, object) + query,
      contentType: 'application/apply-patch+yaml',
      body: JSON.stringify(object),
    };
    return (await this.#requester.json(exchange, signal)) as JsonObject;
  }

  /**
   * Begins the deletion of this very object; what it owns goes first. In the background it would be too late for the children of custom
   * resources: once the definition is gone too, the garbage collector cannot look the owner up and leaves them.
   */
  async delete(type: ResourceType, object: JsonObject, uid: string, signal: AbortSignal): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Foreground',
      ...(uid !== '' && { preconditions: { uid } }),
    };
    await this.#orNothing({ method: 'DELETE', path: this.#path(type, object), body: JSON.stringify(body) }, signal);
  }

  [Symbol.dispose](): void {
    this.#requester.close();
  }

  async #orNothing(
    exchange: { method: string; path: string; body?: string },
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    try {
      return (await this.#requester.json(exchange, signal)) as JsonObject;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #discover(apiVersion: string, signal: AbortSignal): Promise<void> {
    const [group, version] = apiVersion.includes('/')
      ? (apiVersion.split('/', 2) as [string, string])
      : ['', apiVersion];
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const served = await this.#orNothing({ method: 'GET', path }, signal);
    for (const resource of listAt(served, 'resources')) {
      const [plural, kind] = [textAt(resource, 'name'), textAt(resource, 'kind')];
      if (plural.includes('/')) continue;
      const scope = (resource as JsonObject).namespaced === true ? 'Namespaced' : 'Cluster';
      const type: ResourceType = { group, version, kind, plural, scope };
      this.#types.set(`${apiVersionOf(type)}/${kind}`, type);
    }
  }

  #path(type: ResourceType, object: JsonObject): string {
    const namespace = textAt(object, 'metadata', 'namespace');
    const name = textAt(object, 'metadata', 'name');
    const scoped = type.scope === 'Namespaced' ? { namespace: namespace === '' ? this.#namespace : namespace } : {};
    return objectPath(type, { ...scoped, name });
  }
}
