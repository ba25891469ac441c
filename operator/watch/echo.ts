/**
 * Notices a stream that stands still while we write: each write of ours must come back on it. Faster than waiting for a
 * missing bookmark, and free.
 */
import type { Clock } from '../clock.ts';
import { isNewer } from './resource-version.ts';

/** API servers are rarely behind by more than a second. */
const echoMs = 10_000;

export class EchoGuard {
  readonly #clock: Clock;
  readonly #missing: () => void;
  #newest: string | undefined;
  #awaited: string | undefined;
  #cancel = (): void => undefined;

  /** `missing` is called when a write did not come back in time. That write is then forgotten: it may not match our selector. */
  constructor(clock: Clock, missing: () => void) {
    this.#clock = clock;
    this.#missing = missing;
  }

  /** We wrote that version; the stream stands at `position`. */
  wrote(version: string | undefined, position: string | undefined): void {
    if (version === undefined || !isNewer(version, position)) return;
    if (this.#newest === undefined || isNewer(version, this.#newest)) this.#newest = version;
    if (this.#awaited === undefined) this.#await(version);
  }

  /** The stream has come to that position. */
  heard(position: string): void {
    if (this.#awaited === undefined || isNewer(this.#awaited, position)) return;
    this.reset();
    const newest = this.#newest;
    if (newest !== undefined && isNewer(newest, position)) this.#await(newest);
  }

  /** Expects nothing any more. */
  reset(): void {
    this.#cancel();
    this.#awaited = undefined;
  }

  #await(version: string): void {
    this.#awaited = version;
    this.#cancel = this.#clock.after(echoMs, () => {
      this.#awaited = undefined;
      this.#missing();
    });
  }
}
