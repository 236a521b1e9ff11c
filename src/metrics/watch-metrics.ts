import type { ResourceRegistry } from '../registry/resource-registry.js';
import { Buckets, family, type Labels, type MetricFamily } from './metric-family.js';

// As kube-apiserver: 1 KiB, 2 KiB, 4 KiB, …
const sizeBounds = Array.from({ length: 8 }, (_, n) => 1024 * 2 ** n);

interface WatchedKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

interface Sent {
  readonly labels: Labels;
  sizes: Buckets;
}

/**
 * Metrics of events that are sent to watches, by resource. Events of a resource that is no longer served are added to
 * a series with empty labels, since custom kinds may come and go without end.
 */
export class WatchMetrics {
  private readonly byKind = new Map<string, Sent>();
  private readonly gone: Sent = this.make({ group: '', version: '', resource: '' });

  constructor(private readonly registry: ResourceRegistry) {
    registry.onChange(() => this.foldGone());
  }

  /** Returns a function to call with the size of each frame that is sent to a watch of the resource. */
  sentOf({ group, version, resource }: WatchedKind): (bytes: number) => void {
    const key = `${group}/${version}/${resource}`;
    let found = this.byKind.get(key);
    if (!found) this.byKind.set(key, (found = this.make({ group, version, resource })));
    const sent = found;
    return (bytes) => sent.sizes.observe(bytes);
  }

  families(): MetricFamily[] {
    const sent = () => [...this.byKind.values(), this.gone].filter(({ sizes }) => sizes.count > 0);
    return [
      family('apiserver_watch_events_total', 'counter', '[ALPHA] Events sent to watches.', () =>
        sent().map(({ labels, sizes }) => ({ labels, value: sizes.count })),
      ),
      family('apiserver_watch_events_sizes', 'histogram', '[ALPHA] Size of events sent to watches, in bytes.', () =>
        sent().flatMap(({ labels, sizes }) => [...sizes.samples(labels)]),
      ),
    ];
  }

  private foldGone(): void {
    for (const [key, sent] of this.byKind) {
      const { group = '', version = '', resource = '' } = sent.labels;
      if (this.registry.find(group, version, resource)) continue;
      this.gone.sizes.add(sent.sizes);
      // Watches that are still open go on counting there.
      sent.sizes = this.gone.sizes;
      this.byKind.delete(key);
    }
  }

  private make(labels: Labels): Sent {
    return { labels, sizes: new Buckets(sizeBounds) };
  }
}
