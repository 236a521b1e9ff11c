import type { Clock } from '../std/clock.js';

/** Allows `perSecond` on average, and up to `burst` at once. */
export class TokenBucket {
  private tokens: number;
  private atMs: number;

  constructor(private readonly options: { perSecond: number; burst: number; clock: Clock }) {
    this.tokens = options.burst;
    this.atMs = options.clock.monotonicMs();
  }

  /** Takes a token and returns 0, or returns the time until there is one. */
  take(): number {
    const { perSecond, burst, clock } = this.options;
    const nowMs = clock.monotonicMs();
    this.tokens = Math.min(burst, this.tokens + ((nowMs - this.atMs) * perSecond) / 1000);
    this.atMs = nowMs;
    if (this.tokens >= 1) {
      this.tokens--;
      return 0;
    }
    return Math.ceil(((1 - this.tokens) * 1000) / perSecond);
  }
}
