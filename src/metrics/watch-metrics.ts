import { Buckets, type Labels, type MetricFamily } from './metric-family.js';

// As kube-apiserver: 1 KiB, 2 KiB, 4 KiB, …
const sizeBounds = Array.from({ length: 8 }, (_, n) => 1024 * 2 ** n);

export interface WatchedKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Metrics of events that are sent to watches, by resource. */
export class WatchMetrics {
  private readonly byKind = new Map<string, { readonly labels: Labels; readonly sizes: Buckets }>();

  /** Returns a function to call with the size of each frame that is sent to a watch of the resource. */
  sentOf({ group, version, resource }: WatchedKind): (bytes: number) => void {
    const key = `${group}/${version}/${resource}`;
    let found = this.byKind.get(key);
    if (!found)
      this.byKind.set(key, (found = { labels: { group, version, resource }, sizes: new Buckets(sizeBounds) }));
    const { sizes } = found;
    return (bytes) => sizes.observe(bytes);
  }

  families(): MetricFamily[] {
    const sent = () => [...this.byKind.values()].filter(({ sizes }) => sizes.count > 0);
    return [
      {
        name: 'apiserver_watch_events_total',
        type: 'counter',
        help: '[ALPHA] Events sent to watches.',
        samples: () => sent().map(({ labels, sizes }) => ({ labels, value: sizes.count })),
      },
      {
        name: 'apiserver_watch_events_sizes',
        type: 'histogram',
        help: '[ALPHA] Size of events sent to watches, in bytes.',
        samples: () => sent().flatMap(({ labels, sizes }) => [...sizes.samples(labels)]),
      },
    ];
  }
}
