/**
 * A token bucket over all retries of a queue, so that ten thousand failing keys do not become a storm. A retry takes a
 * token when it starts and gives it back when it succeeds: only failures use the bucket up, and after an outage work
 * flows at full speed again.
 */
export interface BucketProps {
  readonly perSecond: number;
  readonly burst: number;
}

/** As in client-go's default rate limiter. */
export const defaultBucket: BucketProps = { perSecond: 10, burst: 100 };

export class Bucket {
  readonly #props: BucketProps;
  #tokens: number;
  #countedAt: number;

  constructor(props: BucketProps, now: number) {
    this.#props = props;
    this.#tokens = props.burst;
    this.#countedAt = now;
  }

  /** Takes a token if there is one. */
  take(now: number): boolean {
    this.#count(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#props.burst, this.#tokens + 1);
  }

  /** How long until there is a token; 0 when there is one. */
  waitMs(now: number): number {
    this.#count(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.#props.perSecond);
  }

  #count(now: number): void {
    const added = (Math.max(0, now - this.#countedAt) * this.#props.perSecond) / 1000;
    this.#tokens = Math.min(this.#props.burst, this.#tokens + added);
    this.#countedAt = now;
  }
}
