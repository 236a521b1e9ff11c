import { every } from '../../std/clock.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { ByAge } from './by-age.js';
import { lastSeenMs } from './last-seen.js';

/**
 * Deletes Events that have not changed for --event-ttl. kube-apiserver uses etcd leases for it; a reconciler works with
 * every storage backend (docs/adr/011-event-expiry.md).
 */
export const eventExpiry = defineReconciler({
  name: 'event-expiry-controller',
  runs: 'by default',
  runsOn: 'leader',
  start: (dependencies) => new EventExpiry(dependencies),
});

/** An Event lives up to a fiftieth longer: about one minute with the default of one hour. */
const sweepsPerTtl = 50;
const sweepMsMax = 60_000;
/** Limit on queued deletions; the next ones are queued when these are done. */
const batchMax = 500;
const workersMax = 8;

class EventExpiry implements RunningReconciler {
  private readonly events;
  private readonly byAge = new ByAge();
  private readonly queue;
  private readonly sweeps;
  private readonly end: () => void;

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { registry, clock, config } = dependencies;
    this.events = registry.require('', 'v1', 'events');
    this.queue = dependencies.queue('event_expiry', (key, signal) => this.expire(key, signal), { workersMax });
    const { cache } = this.events.store;
    this.end = cache.observe({
      changed: ({ key, current }) => {
        if (current) this.byAge.touch(key, clock.now());
        else this.byAge.forget(key);
      },
      reset: () => this.readAll(),
    });
    const sweepMs = Math.max(1, Math.min(config.reconcilers.eventTtlMs / sweepsPerTtl, sweepMsMax));
    this.sweeps = every(clock, sweepMs, () => this.sweep());
  }

  async stop(): Promise<void> {
    this.end();
    this.sweeps.cancel();
    await this.queue.stop();
  }

  /** Reads all Events in the order of their revisions. Times are read from an Event only when it is among the oldest. */
  private readAll(): void {
    const { store } = this.events;
    this.byAge.clear();
    const entries = [...store.cache.snapshot().range(store.scopeOf(''))].sort((a, b) => a.revision - b.revision);
    for (const { key } of entries) this.byAge.touch(key, undefined);
  }

  private readonly lastSeenMs = (key: string): number => {
    const encoded = this.events.store.cache.get(key);
    return encoded && !encoded.corruption ? lastSeenMs(encoded.parse()) : 0;
  };

  private sweep(): void {
    let room = batchMax - this.queue.depth;
    for (const key of this.byAge.until(this.expiredSinceMs, this.lastSeenMs)) {
      if (room-- <= 0) return;
      this.queue.add(key);
    }
  }

  private get expiredSinceMs(): number {
    const { clock, config } = this.dependencies;
    return clock.now() - config.reconcilers.eventTtlMs;
  }

  private async expire(key: string, signal: AbortSignal): Promise<void> {
    const encoded = this.events.store.cache.get(key);
    if (!encoded) return this.byAge.forget(key);
    const { namespace, name } = encoded.attributes;
    const preconditions = { resourceVersion: String(encoded.revision) };
    await this.dependencies.client.delete({ served: this.events, namespace, name }, { preconditions }, signal);
    // If a finalizer keeps the Event, the change of the finalizer touches it again.
    this.byAge.forget(key);
    if (this.queue.depth === 0) this.sweep();
  }
}
