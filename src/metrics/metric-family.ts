import type { Release } from '../config/version.js';
import { Histogram } from '../std/histogram.js';

/**
 * Metrics as plain numbers: counting costs an addition on the request path; names, labels and text are computed at
 * scrape time.
 */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** One object for all samples of a histogram series: its text is built once. */
  readonly labels: Labels;
  readonly value: number;
  /** The label `le` of a bucket: its upper bound. */
  readonly le?: string;
  /** Suffix of the name, for samples of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

export interface MetricFamily {
  readonly name: string;
  /** Begins with the stability, as in kube-apiserver: `[STABLE] Finished requests …`. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Release that deprecated the metric. */
  readonly deprecatedVersion?: Release;
  samples(): Iterable<Sample>;
}

/** Bounds of kube-apiserver for durations of requests and of calls of etcd, in seconds, so that its dashboards work. */
export const latencyBounds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

export function family(
  name: string,
  type: MetricFamily['type'],
  help: string,
  samples: MetricFamily['samples'],
): MetricFamily {
  return { name, type, help, samples };
}

/** Returns a family with one sample without labels. */
export function single(name: string, type: 'counter' | 'gauge', help: string, read: () => number): MetricFamily {
  return family(name, type, help, () => [{ labels: {}, value: read() }]);
}

/** Buckets of one histogram series. `bounds` are ascending. */
export class Buckets extends Histogram {
  get count(): number {
    let total = 0;
    for (const count of this.counts) total += count;
    return total;
  }

  add(other: Buckets): void {
    for (let at = 0; at < this.counts.length; at++) this.counts[at]! += other.counts[at]!;
    this.sum += other.sum;
  }

  *samples(labels: Labels): Iterable<Sample> {
    let total = 0;
    for (const [at, count] of this.counts.entries()) {
      total += count;
      const bound = this.bounds[at];
      yield { labels, le: bound === undefined ? '+Inf' : String(bound), value: total, suffix: '_bucket' };
    }
    yield { labels, value: this.sum, suffix: '_sum' };
    yield { labels, value: total, suffix: '_count' };
  }
}
