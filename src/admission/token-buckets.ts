import type { Clock } from '../std/clock.js';

interface Options {
  readonly clock: Clock;
  /** How many come back in a second. */
  readonly perSecond: number;
  /** How many may be taken at once. */
  readonly burst: number;
  /** How many are remembered; those that nobody asked for longest begin anew. */
  readonly bucketsMax: number;
}

/** By a name each, how much of something is left. */
export class TokenBuckets {
  /** In the order in which they were asked for. */
  private readonly buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(private readonly options: Options) {}

  /** Whether there was one to take. */
  take(name: string): boolean {
    const { clock, perSecond, burst, bucketsMax } = this.options;
    const nowMs = clock.monotonicMs();
    const known = this.buckets.get(name) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, known.tokens + ((nowMs - known.atMs) / 1000) * perSecond);
    const isTaken = tokens >= 1;
    this.buckets.delete(name);
    this.buckets.set(name, { tokens: isTaken ? tokens - 1 : tokens, atMs: nowMs });
    if (this.buckets.size > bucketsMax) this.buckets.delete(this.buckets.keys().next().value!);
    return isTaken;
  }
}
