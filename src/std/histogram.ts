/** Counts of observed values by bucket, not cumulative; the last bucket has no bound. */
export class Histogram {
  readonly counts: number[];
  sum = 0;

  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number, times = 1): void {
    const { bounds, counts } = this;
    let at = 0;
    // Linear search: nearly all values fall into the first buckets.
    while (at < bounds.length && value > bounds[at]!) at++;
    counts[at]! += times;
    this.sum += value * times;
  }
}
