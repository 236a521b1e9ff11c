import type { MeasuredOutcome } from '../storage/decorators/measured-store.js';
import { Buckets, type Labels, type MetricFamily } from './metric-family.js';

// Buckets of kube-apiserver for etcd requests.
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

interface Calls {
  readonly labels: Labels;
  errors: number;
  readonly durations: Buckets;
}

export interface StoredKind {
  readonly group: string;
  readonly resource: string;
}

export interface StorageKeys {
  /** `/registry/` */
  readonly root: string;
  /** Returns the resources by key prefix below the root. Called again for keys with an unknown prefix. */
  kinds(): Iterable<readonly [prefix: string, kind: StoredKind]>;
}

const noKind: StoredKind = { group: '', resource: '' };

/** Metrics of calls of the backing store, by operation and resource. */
export class StorageMetrics {
  private readonly calls = new Map<StoredKind, Map<string, Calls>>();
  private readonly kinds = new Map<string, StoredKind>();

  constructor(private readonly keys: StorageKeys) {}

  /** Counts a call of the store. */
  readonly observe = (operation: string, seconds: number, outcome: MeasuredOutcome, key: string): void => {
    const kind = this.kindOf(key);
    let ofKind = this.calls.get(kind);
    if (!ofKind) this.calls.set(kind, (ofKind = new Map<string, Calls>()));
    let found = ofKind.get(operation);
    if (!found) {
      found = { labels: { operation, ...kind }, errors: 0, durations: new Buckets(bounds) };
      ofKind.set(operation, found);
    }
    // A conflict (another write was first) is not an error of the store.
    if (outcome !== 'ok' && outcome !== 'conflict') found.errors++;
    found.durations.observe(seconds);
  };

  families(): MetricFamily[] {
    const counter = (name: string, help: string, read: (found: Calls) => number): MetricFamily => ({
      name,
      help,
      type: 'counter',
      samples: () => this.all().map((found) => ({ labels: found.labels, value: read(found) })),
    });
    return [
      {
        name: 'etcd_request_duration_seconds',
        help: '[ALPHA] Duration of calls of the backing store, in seconds.',
        type: 'histogram',
        samples: () => this.all().flatMap(({ labels, durations }) => [...durations.samples(labels)]),
      },
      counter('etcd_requests_total', '[ALPHA] Calls of the backing store.', ({ durations }) => durations.count),
      counter('etcd_request_errors_total', '[ALPHA] Calls of the backing store that failed.', ({ errors }) => errors),
    ];
  }

  private all(): Calls[] {
    return [...this.calls.values()].flatMap((ofKind) => [...ofKind.values()]);
  }

  /**
   * Returns the resource of a key by its first or first two segments: `/registry/pods/ns/name`,
   * `/registry/apps.example/things/ns/name`.
   */
  private kindOf(key: string): StoredKind {
    const { root } = this.keys;
    if (!key.startsWith(root)) return noKind;
    const one = key.indexOf('/', root.length);
    const two = one < 0 ? -1 : key.indexOf('/', one + 1);
    const prefixes = [one, two].filter((end) => end > 0).map((end) => key.slice(root.length, end));
    return this.known(prefixes) ?? this.learn(prefixes);
  }

  private known(prefixes: readonly string[]): StoredKind | undefined {
    for (const prefix of prefixes) {
      const kind = this.kinds.get(prefix);
      if (kind) return kind;
    }
    return undefined;
  }

  private learn(prefixes: readonly string[]): StoredKind {
    for (const [prefix, kind] of this.keys.kinds()) {
      if (prefixes.includes(prefix)) this.kinds.set(prefix, kind);
    }
    return this.known(prefixes) ?? noKind;
  }
}
