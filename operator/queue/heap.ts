/** A binary heap whose members can be moved and removed in O(log n), because it remembers where each one is. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();

  /** `isBefore` must be a strict order; change what it reads of a member only between `remove` and `add`. */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The member that comes before all others. */
  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#put(this.#items.length, item);
    this.#up(this.#items.length - 1);
  }

  takeFirst(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Says whether it was a member. */
  remove(item: T): boolean {
    const position = this.#positions.get(item);
    if (position === undefined) return false;
    this.#positions.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return true;
    this.#put(position, last);
    this.#up(position);
    this.#down(this.#positions.get(last) ?? position);
    return true;
  }

  #put(position: number, item: T): void {
    this.#items[position] = item;
    this.#positions.set(item, position);
  }

  #up(position: number): void {
    const parent = (position - 1) >> 1;
    if (position > 0 && this.#swapIfBefore(position, parent)) this.#up(parent);
  }

  #down(position: number): void {
    const [left, right] = [2 * position + 1, 2 * position + 2];
    const child = this.#comesFirst(right, left) ? right : left;
    if (this.#swapIfBefore(child, position)) this.#down(child);
  }

  #comesFirst(a: number, b: number): boolean {
    const [itemA, itemB] = [this.#items[a], this.#items[b]];
    return itemA !== undefined && itemB !== undefined && this.#isBefore(itemA, itemB);
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const [below, above] = [this.#items[lower], this.#items[upper]];
    if (below === undefined || above === undefined || !this.#isBefore(below, above)) return false;
    this.#put(upper, below);
    this.#put(lower, above);
    return true;
  }
}
