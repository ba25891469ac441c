/**
 * What a controller remembers of its resources between runs. Everything here spares requests and nothing rests on it: with
 * an empty memory, after a restart, the same state comes about.
 */

/** What stands in a resource's way, for people: shown in its condition `Degraded`. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** A child that cannot be had for now. Not tried again before `until`, unless it or the resource's spec changes. */
export interface Block {
  readonly hash: string;
  /** See renderInputsOf. */
  readonly inputs: string;
  readonly tries: number;
  readonly until: number;
  /** Absent when there is nothing to complain about: the namespace is going away. */
  readonly problem?: Problem;
}

/** Repairs of one child that others keep changing. */
export interface Contest {
  readonly repairs: number;
  readonly lastAt: number;
  /** Not repaired again before. */
  readonly until: number;
}

/** That nothing is left to do, as long as every object that was looked at is still of the same version. */
interface Settled {
  readonly fingerprint: string;
  /** When something that is blocked may be tried again. */
  readonly until: number | undefined;
}

/** What is remembered of one resource. */
export class Notes {
  readonly uid: string;
  #settled: Settled | undefined;
  #blocks: Map<string, Block> | undefined;
  #leftovers: Map<string, string> | undefined;
  #contests: Map<string, Contest> | undefined;

  constructor(uid: string) {
    this.uid = uid;
  }

  settle(settled: Settled): void {
    this.#settled = settled;
  }

  /** Undefined when there is something to do. */
  settledAs(fingerprint: string, now: number): Settled | undefined {
    const settled = this.#settled;
    return settled?.fingerprint === fingerprint && (settled.until ?? Infinity) > now ? settled : undefined;
  }

  block(child: string): Block | undefined {
    return this.#blocks?.get(child);
  }

  setBlock(child: string, block: Block | undefined): void {
    if (block !== undefined) (this.#blocks ??= new Map<string, Block>()).set(child, block);
    else this.#blocks?.delete(child);
  }

  /** What the server made otherwise than we said, in answer to a write. Writing it again would change nothing. */
  leftover(of: string): string | undefined {
    return this.#leftovers?.get(of);
  }

  setLeftover(of: string, text: string | undefined): void {
    if (text !== undefined) (this.#leftovers ??= new Map<string, string>()).set(of, text);
    else this.#leftovers?.delete(of);
  }

  contest(child: string): Contest | undefined {
    return this.#contests?.get(child);
  }

  setContest(child: string, contest: Contest): void {
    (this.#contests ??= new Map<string, Contest>()).set(child, contest);
  }
}

export class Memory {
  readonly #notes = new Map<string, Notes>();

  /** The notes on that resource; those on an earlier one of its name are dropped. */
  of(key: string, uid: string): Notes {
    const known = this.#notes.get(key);
    if (known?.uid === uid) return known;
    const notes = new Notes(uid);
    this.#notes.set(key, notes);
    return notes;
  }

  forget(key: string): void {
    this.#notes.delete(key);
  }

  get size(): number {
    return this.#notes.size;
  }
}
