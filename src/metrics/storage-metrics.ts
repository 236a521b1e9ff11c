import type { GroupResource } from '../machinery/gvk.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { MeasuredOutcome } from '../storage/decorators/measured-store.js';
import { Buckets, family, latencyBounds, type Labels, type MetricFamily } from './metric-family.js';

interface Calls {
  readonly labels: Labels;
  errors: number;
  readonly durations: Buckets;
}

/** Calls for the keys of one resource, by operation. */
class ResourceCalls {
  readonly byOperation = new Map<string, Calls>();

  constructor(private readonly resource: GroupResource) {}

  of(operation: string): Calls {
    let found = this.byOperation.get(operation);
    if (!found) {
      const { group, resource } = this.resource;
      found = { labels: { operation, group, resource }, errors: 0, durations: new Buckets(latencyBounds) };
      this.byOperation.set(operation, found);
    }
    return found;
  }

  add(other: ResourceCalls): void {
    for (const [operation, { errors, durations }] of other.byOperation) {
      const calls = this.of(operation);
      calls.errors += errors;
      calls.durations.add(durations);
    }
  }
}

/**
 * Metrics of calls of the backing store, by operation and resource. Calls for a resource that is no longer served are
 * added to those without a resource, since custom kinds may come and go without end.
 */
export class StorageMetrics {
  private byPrefix: ReadonlyMap<string, ResourceCalls> = new Map();
  private readonly withoutResource = new ResourceCalls({ group: '', resource: '' });
  private isStale = true;

  constructor(
    /** `/registry/` */
    private readonly root: string,
    private readonly registry: ResourceRegistry,
  ) {
    registry.onChange(() => (this.isStale = true));
  }

  /** Counts a call of the store. */
  readonly observe = (operation: string, seconds: number, outcome: MeasuredOutcome, key: string): void => {
    const calls = this.callsOf(key).of(operation);
    // A conflict (another write was first) is not an error of the store.
    if (outcome !== 'ok' && outcome !== 'conflict') calls.errors++;
    calls.durations.observe(seconds);
  };

  families(): MetricFamily[] {
    const counter = (name: string, help: string, read: (calls: Calls) => number) =>
      family(name, 'counter', help, () => this.all().map((calls) => ({ labels: calls.labels, value: read(calls) })));
    return [
      family(
        'etcd_request_duration_seconds',
        'histogram',
        '[ALPHA] Duration of calls of the backing store, in seconds.',
        () => this.all().flatMap(({ labels, durations }) => [...durations.samples(labels)]),
      ),
      counter('etcd_requests_total', '[ALPHA] Calls of the backing store.', ({ durations }) => durations.count),
      counter('etcd_request_errors_total', '[ALPHA] Calls of the backing store that failed.', ({ errors }) => errors),
    ];
  }

  private all(): Calls[] {
    const resources = [...this.current().values(), this.withoutResource];
    return resources.flatMap(({ byOperation }) => [...byOperation.values()]);
  }

  /**
   * Finds the resource of a key by its first or first two segments: `/registry/pods/ns/name`,
   * `/registry/apps.example/things/ns/name`.
   */
  private callsOf(key: string): ResourceCalls {
    const { root } = this;
    const one = key.startsWith(root) ? key.indexOf('/', root.length) : -1;
    if (one < 0) return this.withoutResource;
    const byPrefix = this.current();
    const ofOne = byPrefix.get(key.slice(root.length, one));
    if (ofOne) return ofOne;
    const two = key.indexOf('/', one + 1);
    return (two < 0 ? undefined : byPrefix.get(key.slice(root.length, two))) ?? this.withoutResource;
  }

  /** Returns the calls by the key prefixes of all served resources. */
  private current(): ReadonlyMap<string, ResourceCalls> {
    if (!this.isStale) return this.byPrefix;
    const byPrefix = new Map<string, ResourceCalls>();
    for (const { definition, store } of this.registry.storedResources()) {
      const prefix = definition.storagePrefix;
      byPrefix.set(prefix, this.byPrefix.get(prefix) ?? new ResourceCalls(store.groupResource));
    }
    for (const [prefix, calls] of this.byPrefix) if (!byPrefix.has(prefix)) this.withoutResource.add(calls);
    this.byPrefix = byPrefix;
    this.isStale = false;
    return byPrefix;
  }
}
