const nanosPerMs = 1e6;

/**
 * Time for which a count (of requests, of seats) had each ratio to its limit, as a histogram with one observation a
 * nanosecond, like the timing histograms of kube-apiserver. A change of the count is one addition; ratios are computed
 * when the limit changes and when the metrics are read.
 */
export class RatioHistogram {
  /** The counts of the buckets, not cumulative, in nanoseconds. The last one has no bound. */
  readonly counts: number[];
  sum = 0;
  /** Milliseconds by count, since the limit last changed. */
  private readonly times: number[] = [];
  private count = 0;
  private limit = 1;

  constructor(
    readonly bounds: readonly number[],
    private sinceMs: number,
  ) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  set(count: number, nowMs: number): void {
    this.advance(nowMs);
    this.count = count;
  }

  setLimit(limit: number, nowMs: number): void {
    if (limit === this.limit) return;
    this.fold(nowMs);
    this.limit = limit;
  }

  /** Adds the time up to now to the buckets. */
  fold(nowMs: number): void {
    this.advance(nowMs);
    for (const [count, ms] of this.times.entries()) {
      if (ms === undefined || ms === 0) continue;
      this.times[count] = 0;
      const ratio = count / this.limit;
      const at = this.bounds.findIndex((bound) => ratio <= bound);
      const nanos = Math.round(ms * nanosPerMs);
      this.counts[at < 0 ? this.bounds.length : at]! += nanos;
      if (nanos > 0 && count > 0) this.sum += ratio * nanos;
    }
  }

  private advance(nowMs: number): void {
    const { count, times } = this;
    while (times.length <= count) times.push(0);
    times[count]! += nowMs - this.sinceMs;
    this.sinceMs = nowMs;
  }
}
