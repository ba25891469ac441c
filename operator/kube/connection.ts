/** Where the API server is and who we are: what the transport needs to know of a kubeconfig or a mounted account. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';

/** The TLS part. The transport keeps its connections for as long as it gets the same object. */
export interface TlsSettings {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Credentials {
  /** Value of the Authorization header. */
  readonly authorization?: string;
  readonly tls: TlsSettings;
}

export interface Connection {
  /** May carry a path that goes before `/api`. */
  readonly server: URL;
  /** For people: `context kind-dev of /home/me/.kube/config`. */
  readonly description: string;
  /** For the next request. Cheap: read again when it may have changed. */
  credentials(): Promise<Credentials>;
  /** After a 401 with `refused`: what to try next; the very same object when there is nothing new. */
  renew(refused: Credentials): Promise<Credentials>;
}

const minRenewIntervalMs = 5_000;

/**
 * Keeps credentials for a while. One load at a time, however many requests wait for it; a load that changes nothing gives
 * the same object again, so that connections are kept; a load that fails leaves the old ones in use.
 */
export class CredentialCache {
  readonly #load: (fresh: boolean) => Promise<Credentials>;
  readonly #clock: Clock;
  readonly #maxAgeMs: number;
  #current: Credentials | undefined;
  #loadedAt = 0;
  #renewedAt = -Infinity;
  #loading: Promise<Credentials> | undefined;

  /** `fresh`: the server refused what it had, so nothing that `load` keeps itself may be trusted. */
  constructor(load: (fresh: boolean) => Promise<Credentials>, clock: Clock, maxAgeMs: number) {
    this.#load = load;
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  async get(): Promise<Credentials> {
    if (this.#current === undefined) return this.#reload(false);
    if (this.#clock.now() - this.#loadedAt < this.#maxAgeMs) return this.#current;
    const old = this.#current;
    return this.#reload(false).catch(() => old);
  }

  /** At most every few seconds, so that a lasting 401 does not run an exec plugin for each request. */
  async renew(refused: Credentials): Promise<Credentials> {
    const current = this.#current;
    if (current !== undefined && current !== refused) return current;
    if (current !== undefined && this.#clock.now() - this.#renewedAt < minRenewIntervalMs)
      return this.#loading ?? current;
    this.#renewedAt = this.#clock.now();
    return this.#reload(true);
  }

  #reload(fresh: boolean): Promise<Credentials> {
    const pending = this.#loading;
    if (pending !== undefined && !fresh) return pending;
    const loading = this.#loadAfter(pending, fresh).finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  /** One after the other, so that what was loaded earlier never replaces what was loaded later. */
  async #loadAfter(pending: Promise<unknown> | undefined, fresh: boolean): Promise<Credentials> {
    await pending?.catch(() => undefined);
    return this.#keep(await this.#load(fresh));
  }

  #keep(loaded: Credentials): Credentials {
    const old = this.#current;
    this.#loadedAt = this.#clock.now();
    if (old !== undefined && isDeepStrictEqual(old, loaded)) return old;
    const sameTls = old !== undefined && isDeepStrictEqual(old.tls, loaded.tls);
    this.#current = sameTls ? { ...loaded, tls: old.tls } : loaded;
    return this.#current;
  }
}
