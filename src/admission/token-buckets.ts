import type { Clock } from '../std/clock.js';

interface Options {
  readonly clock: Clock;
  /** Tokens added to each bucket per second. */
  readonly perSecond: number;
  /** Capacity of each bucket. */
  readonly burst: number;
  /** Limit on buckets. Beyond it, the least recently used bucket is dropped and starts full again. */
  readonly bucketsMax: number;
}

/** Token buckets for rate limits, one for each key. */
export class TokenBuckets {
  /** Ordered by last use. */
  private readonly buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(private readonly options: Options) {}

  /** Takes a token; returns false if the bucket has none. */
  take(key: string): boolean {
    const { clock, perSecond, burst, bucketsMax } = this.options;
    const nowMs = clock.monotonicMs();
    const known = this.buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, known.tokens + ((nowMs - known.atMs) / 1000) * perSecond);
    const isTaken = tokens >= 1;
    this.buckets.delete(key);
    this.buckets.set(key, { tokens: isTaken ? tokens - 1 : tokens, atMs: nowMs });
    if (this.buckets.size > bucketsMax) this.buckets.delete(this.buckets.keys().next().value!);
    return isTaken;
  }
}
