/** A map of limited size: setting a new key beyond it drops the key that was used longest ago. */
export class BoundedMap<Key, Value> {
  readonly #limit: number;
  /** In the order of use, the oldest first. */
  readonly #entries = new Map<Key, Value>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** A copy: entries may be deleted while it is walked. */
  entries(): readonly (readonly [Key, Value])[] {
    return [...this.#entries];
  }
}
