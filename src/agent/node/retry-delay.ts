import type { Rng } from '../../std/rng.js';

const firstMs = 200;
const jitterShare = 0.1;

/** The longest delay of registration and Lease renewal. */
const delayMsMaxDefault = 7_000;

/** Delays between attempts: 200 ms, doubled up to 7 s, each up to 10 % longer so that nodes do not retry together. */
export class RetryDelay {
  private nextMs = firstMs;

  constructor(
    private readonly rng: Rng,
    private readonly delayMsMax = delayMsMaxDefault,
  ) {}

  next(): number {
    const delayMs = this.nextMs;
    this.nextMs = Math.min(delayMs * 2, this.delayMsMax);
    return Math.min(delayMs + this.rng.below(Math.ceil(delayMs * jitterShare)), this.delayMsMax);
  }

  /** Begins with the shortest delay again, after a success. */
  reset(): void {
    this.nextMs = firstMs;
  }
}
