import { every } from '../../std/clock.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { ByAge } from './by-age.js';
import { lastSeenMs } from './last-seen.js';

/**
 * Events go when nothing was told by them for --event-ttl. The reference lets etcd do it, by leases; a reconciler needs
 * nothing from the store, and does the same over each (docs/adr/011-event-expiry.md).
 */
export const eventExpiry: Reconciler = {
  name: 'event-expiry-controller',
  start: (parts) => new EventExpiry(parts),
};

/** An Event lives up to a fiftieth longer: with the usual hour, about one minute. */
const sweepsPerLife = 50;
const sweepMsMax = 60_000;
/** Deletions handed to the queue at a time; the rest follows when these are done. */
const batchMax = 500;
const workersMax = 8;

class EventExpiry implements RunningReconciler {
  private readonly events;
  private readonly byAge = new ByAge();
  private readonly queue;
  private readonly sweeps;
  private readonly end: () => void;

  constructor(private readonly parts: ReconcilerParts) {
    const { registry, clock, config } = parts;
    this.events = registry.require('', 'v1', 'events');
    this.queue = parts.queue('event_expiry', (key, signal) => this.expire(key, signal), { workersMax });
    const { cache } = this.events.store;
    this.end = cache.observe({
      changed: ({ key, current }) => {
        if (current) this.byAge.touch(key, clock.now());
        else this.byAge.forget(key);
      },
      reset: () => this.readAll(),
    });
    const sweepMs = Math.max(1, Math.min(config.reconcilers.eventTtlMs / sweepsPerLife, sweepMsMax));
    this.sweeps = every(clock, sweepMs, () => this.sweep());
  }

  async stop(): Promise<void> {
    this.end();
    this.sweeps.cancel();
    await this.queue.stop();
  }

  /** In the order of their revisions. When each was written is only asked of those at the front. */
  private readAll(): void {
    const { store } = this.events;
    this.byAge.clear();
    const entries = [...store.cache.snapshot().range(store.scopeOf(''))].sort((a, b) => a.revision - b.revision);
    for (const { key } of entries) this.byAge.touch(key, undefined);
  }

  private readonly seenMs = (key: string): number => {
    const encoded = this.events.store.cache.get(key);
    return encoded && !encoded.corruption ? lastSeenMs(encoded.parse()) : 0;
  };

  private sweep(): void {
    let room = batchMax - this.queue.depth;
    for (const key of this.byAge.until(this.expiredSinceMs, this.seenMs)) {
      if (room-- <= 0) return;
      this.queue.add(key);
    }
  }

  private get expiredSinceMs(): number {
    const { clock, config } = this.parts;
    return clock.now() - config.reconcilers.eventTtlMs;
  }

  private async expire(key: string, signal: AbortSignal): Promise<void> {
    const encoded = this.events.store.cache.get(key);
    if (!encoded) return this.byAge.forget(key);
    const { namespace, name } = encoded.attributes;
    const preconditions = { resourceVersion: String(encoded.revision) };
    await this.parts.client.delete({ served: this.events, namespace, name }, { preconditions }, signal);
    // Held by a finalizer, it is told of when that changes.
    this.byAge.forget(key);
    if (this.queue.depth === 0) this.sweep();
  }
}
