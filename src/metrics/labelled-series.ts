import { Buckets, type Labels, type Sample } from './metric-family.js';

/** Counters by their labels. */
export class Counters {
  private readonly series = new Map<string, { readonly labels: Labels; value: number }>();

  add(labels: Labels): void {
    const key = Object.values(labels).join(' ');
    const found = this.series.get(key);
    if (found) found.value++;
    else this.series.set(key, { labels, value: 1 });
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
    const key = Object.values(labels).join(' ');
    let found = this.series.get(key);
    if (!found) this.series.set(key, (found = { labels, buckets: new Buckets(this.bounds) }));
    found.buckets.observe(value);
  }

  samples(): Sample[] {
    return [...this.series.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]);
  }
}
