/** Which work is under way in each controller and for how long, told from what an Observer hears. Metrics and the liveness probe read it. */
import type { Clock } from '../clock.ts';

/** Starts are told apart by their time only: an Observer hears no keys, since keys must not become labels. */
export class WorkInProgress {
  readonly #clock: Clock;
  readonly #starts = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes an idle controller known. */
  add(controller: string): void {
    this.#startsOf(controller);
  }

  started(controller: string): void {
    this.#startsOf(controller).push(this.#clock.now());
  }

  /** Work that took so long is done: forgets the start that fits best. */
  finished(controller: string, seconds: number): void {
    const starts = this.#startsOf(controller);
    const start = this.#clock.now() - seconds * 1000;
    const distances = starts.map((candidate) => Math.abs(candidate - start));
    starts.splice(distances.indexOf(Math.min(...distances)), 1);
  }

  /** Age of the oldest work of that controller; 0 when it is idle. */
  longestSeconds(controller: string): number {
    return Math.max(0, ...this.#agesOf(controller));
  }

  /** Ages of all work of that controller added up. */
  unfinishedSeconds(controller: string): number {
    return this.#agesOf(controller).reduce((sum, age) => sum + age, 0);
  }

  get controllers(): readonly string[] {
    return [...this.#starts.keys()];
  }

  #agesOf(controller: string): readonly number[] {
    return this.#startsOf(controller).map((start) => (this.#clock.now() - start) / 1000);
  }

  #startsOf(controller: string): number[] {
    const known = this.#starts.get(controller);
    if (known !== undefined) return known;
    const starts: number[] = [];
    this.#starts.set(controller, starts);
    return starts;
  }
}
