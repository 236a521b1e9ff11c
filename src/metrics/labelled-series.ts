import { Buckets, type Labels, type Sample } from './metric-family.js';

/** Counters by their labels. */
export class Counters {
  private readonly series = new Map<string, { readonly labels: Labels; value: number }>();

  add(labels: Labels): void {
    this.begin(labels).value++;
  }

  /** Shows the counter although it is zero. */
  begin(labels: Labels): { value: number } {
    const key = Object.values(labels).join(' ');
    let found = this.series.get(key);
    if (!found) this.series.set(key, (found = { labels, value: 0 }));
    return found;
  }

  samples(): Sample[] {
    return [...this.series.values()];
  }
}

/** Histograms by their labels. */
export class Histograms {
  private readonly series = new Map<string, { readonly labels: Labels; readonly buckets: Buckets }>();

  constructor(private readonly bounds: readonly number[]) {}

  observe(labels: Labels, value: number): void {
    this.begin(labels).observe(value);
  }

  /** Shows the histogram although it is empty. */
  begin(labels: Labels): Buckets {
    const key = Object.values(labels).join(' ');
    let found = this.series.get(key);
    if (!found) this.series.set(key, (found = { labels, buckets: new Buckets(this.bounds) }));
    return found.buckets;
  }

  samples(): Sample[] {
    return [...this.series.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]);
  }
}
