import type { Revision } from '../machinery/revision.js';
import type { KeyValue, KvStore, StoreEvent } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { Clock, Timer } from '../std/clock.js';
import { Deferred } from '../std/deferred.js';
import { CacheEvent } from './cache-event.js';
import type { CacheLimits } from './cache-limits.js';
import type { Decode, EncodedObject } from './encoded-object.js';

interface BackfillOptions {
  readonly store: KvStore;
  readonly prefix: string;
  readonly decode: Decode;
  /** Reads events after this revision, without those of it. */
  readonly after: Revision;
  /** Reads events up to this revision, including those of it. The store has reached it. */
  readonly until: Revision;
  readonly clock: Clock;
  readonly limits: CacheLimits;
  /** Called after every event. Once true, reading stops at the end of that revision. */
  isEnough(events: number, bytes: number): boolean;
}

export interface OlderEvents {
  readonly events: readonly CacheEvent[];
  /** The last complete revision: `until`, unless isEnough() stopped before. */
  readonly upTo: Revision;
}

/**
 * Reads events under a prefix that the cache has already dropped. Returns undefined if the store has compacted them.
 */
export async function readOlderEvents(options: BackfillOptions): Promise<OlderEvents | undefined> {
  const { store, prefix, after, until, clock, limits } = options;
  const reader = new Reader(options);
  const done = new Deferred<OlderEvents | undefined>();
  // The store may deliver more events before the watch is closed.
  const finish = (upTo: Revision) => done.resolve({ events: [...reader.found], upTo });
  const watch = store.watch(
    prefix,
    { from: (after + 1) as Revision, withPrevious: true },
    {
      events(events, revision) {
        try {
          const outcome = reader.read(events);
          if (outcome === 'lost') done.resolve(undefined);
          else if (outcome !== 'more') finish(outcome);
          else if (revision >= until) finish(until);
        } catch (error) {
          done.reject(error);
        }
      },
      progress(revision) {
        if (revision >= until) finish(until);
      },
      ended(error) {
        if (error instanceof StorageError && error.code === 'compacted') done.resolve(undefined);
        else done.reject(error);
      },
    },
  );
  const late = () =>
    done.reject(new StorageError('unavailable', `the store did not send the older events of ${prefix} in time`));
  const deadline = clock.after(limits.backfillTimeoutMs, late);
  // The last event may be older than `until`; only a progress notification says that no event follows.
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

class Reader {
  readonly found: CacheEvent[] = [];
  private readonly latest = new Map<string, EncodedObject>();
  private bytes = 0;
  private isEnough = false;

  constructor(private readonly options: BackfillOptions) {}

  /**
   * Returns the last complete revision once there are enough events; 'lost' if the previous state of an event is
   * unknown.
   */
  read(events: readonly StoreEvent[]): Revision | 'more' | 'lost' {
    const { until, clock } = this.options;
    for (const event of events) {
      const { key, revision, item } = event;
      if (revision > until) return until;
      const last = this.found.at(-1);
      if (this.isEnough && last && revision > last.revision) return last.revision;
      const previous = this.previousOf(event);
      const current = item && this.decode(item);
      if (!previous && !current) return 'lost';
      if (current) this.latest.set(key, current);
      else this.latest.delete(key);
      const older = new CacheEvent(revision, key, previous, current, clock.now());
      older.forgetFrames();
      this.bytes += older.bytes;
      this.found.push(older);
      this.isEnough ||= this.options.isEnough(this.found.length, this.bytes);
    }
    // A delivery contains whole revisions.
    return this.isEnough ? this.found.at(-1)!.revision : 'more';
  }

  private previousOf({ key, previous }: StoreEvent): EncodedObject | undefined {
    return this.latest.get(key) ?? (previous && this.decode(previous));
  }

  private decode(item: KeyValue): EncodedObject {
    const object = this.options.decode(item);
    object.detach();
    return object;
  }
}
