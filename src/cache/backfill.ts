import type { Revision } from '../machinery/revision.js';
import type { KvStore, StoreEvent } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { Clock, Timer } from '../std/clock.js';
import { Deferred } from '../std/deferred.js';
import { CacheEvent } from './cache-event.js';
import type { CacheLimits } from './cache-limits.js';
import type { Decode, EncodedObject } from './encoded-object.js';

export interface BackfillOptions {
  readonly store: KvStore;
  readonly prefix: string;
  readonly decode: Decode;
  /** Events after this revision … */
  readonly after: Revision;
  /** … up to this one, which the store has reached. */
  readonly until: Revision;
  readonly clock: Clock;
  readonly limits: CacheLimits;
  hasRoomFor(events: number, bytes: number): boolean;
}

/**
 * Reads the events of a resource that are older than its ring, once for everybody who wants them. Undefined when
 * they are not to be had: the store has compacted them, or they are more than the ring may hold.
 */
export async function readOlderEvents(options: BackfillOptions): Promise<CacheEvent[] | undefined> {
  const { store, prefix, after, until, clock, limits } = options;
  const reader = new OlderEvents(options);
  const done = new Deferred<CacheEvent[] | undefined>();
  const watch = store.watch(
    prefix,
    { from: (after + 1) as Revision, withPrevious: true },
    {
      events(events, revision) {
        try {
          if (!reader.read(events)) done.resolve(undefined);
          else if (revision >= until) done.resolve(reader.found);
        } catch (error) {
          done.reject(error);
        }
      },
      progress(revision) {
        if (revision >= until) done.resolve(reader.found);
      },
      ended(error) {
        if (error instanceof StorageError && error.code === 'compacted') done.resolve(undefined);
        else done.reject(error);
      },
    },
  );
  const late = () =>
    done.reject(new StorageError('unavailable', `the store did not send its history of ${prefix} in time`));
  const deadline = clock.after(limits.backfillTimeoutMs, late);
  // The last event may be older than `until`: only progress tells that nothing follows.
  let asking: Timer;
  const ask = (delayMs: number) => {
    watch.requestProgress();
    asking = clock.after(delayMs, () => ask(Math.min(delayMs * 2, limits.progressDelayMaxMs)));
  };
  ask(limits.progressDelayMinMs);
  try {
    return await done.promise;
  } finally {
    asking!.cancel();
    deadline.cancel();
    watch.close();
  }
}

class OlderEvents {
  readonly found: CacheEvent[] = [];
  private readonly latest = new Map<string, EncodedObject>();
  private bytes = 0;

  constructor(private readonly options: BackfillOptions) {}

  /** False when the events cannot all be told. */
  read(events: readonly StoreEvent[]): boolean {
    const { until, clock } = this.options;
    for (const event of events) {
      const revision = event.type === 'put' ? event.item.modRevision : event.modRevision;
      if (revision > until) return true;
      const key = event.type === 'put' ? event.item.key : event.key;
      const previous = this.previousOf(key, event);
      const current = event.type === 'put' ? this.options.decode(event.item) : undefined;
      if (!previous && !current) return false;
      if (current) this.latest.set(key, current);
      else this.latest.delete(key);
      const older = new CacheEvent(revision, key, previous, current, clock.now());
      older.forgetFrames();
      this.bytes += older.bytes;
      this.found.push(older);
      if (!this.options.hasRoomFor(this.found.length, this.bytes)) return false;
    }
    return true;
  }

  private previousOf(key: string, event: StoreEvent): EncodedObject | undefined {
    return this.latest.get(key) ?? (event.previous && this.options.decode(event.previous));
  }
}
