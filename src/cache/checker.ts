import type { Revision } from '../machinery/revision.js';
import type { KeyValue, KvStore } from '../storage/kv-store.js';
import { every, type Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { compareUtf8 } from '../std/compare-utf8.js';
import { differingPaths } from './differing-paths.js';
import type { Feed } from './feed.js';
import type { WatchCache } from './watch-cache.js';

/** A difference between cache and store: a bug of this server, or of the store. */
export interface Mismatch {
  readonly prefix: string;
  readonly revision: Revision;
  readonly key: string;
  readonly inCache: Revision | undefined;
  readonly inStore: Revision | undefined;
  /** JSON pointers of differing fields, for the first mismatches at equal revisions. */
  readonly fields?: readonly string[];
}

const pageItems = 500;

interface PeriodicCheck {
  readonly feed: Feed;
  readonly store: KvStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 disables the check. */
  readonly intervalMs: number;
  /** Called with the result of every check. */
  readonly onChecked?: (mismatches: readonly Mismatch[]) => void;
}

/** Mismatches logged per check. */
const loggedMax = 10;

/** Compares all caches with the store at an interval, and logs mismatches. */
export function checkPeriodically(options: PeriodicCheck): { stop(): void } {
  const { feed, store, clock, logger, intervalMs, onChecked } = options;
  if (intervalMs === 0) return { stop: () => undefined };
  const stopping = new AbortController();
  const timer = every(clock, intervalMs, async () => {
    try {
      const mismatches = await checkAgainstStore(feed, store, stopping.signal);
      for (const mismatch of mismatches.slice(0, loggedMax)) {
        logger.error('the watch cache differs from the store, reads may be wrong; restart the server', {
          ...mismatch,
          mismatches: mismatches.length,
        });
      }
      onChecked?.(mismatches);
    } catch (error) {
      if (!stopping.signal.aborted) {
        logger.warn('could not compare the watch cache with the store; trying again after the next interval', {
          error,
        });
      }
    }
  });
  return {
    stop() {
      timer.cancel();
      stopping.abort(new Error('the server stops'));
    },
  };
}

/** Compares every cache with the store at the feed's position, byte by byte. Rejects with the errors of the store. */
export async function checkAgainstStore(feed: Feed, store: KvStore, signal?: AbortSignal): Promise<Mismatch[]> {
  const mismatches: Mismatch[] = [];
  for (const cache of [...feed.resources]) {
    if (cache.isReady) mismatches.push(...(await checkResource(cache, store, signal)));
  }
  return mismatches;
}

async function checkResource(cache: WatchCache, store: KvStore, signal: AbortSignal | undefined): Promise<Mismatch[]> {
  const { prefix } = cache;
  const snapshot = cache.snapshot();
  const { revision } = snapshot;
  const cached = snapshot.range(prefix)[Symbol.iterator]();
  const stored = storedItems(store, prefix, revision, signal);
  const mismatches: Mismatch[] = [];
  let ours = valueOf(cached.next());
  let theirs = valueOf(await stored.next());
  // Both sides are ordered by key: the lower key is missing on the other side.
  while (ours || theirs) {
    const order = !ours ? 1 : !theirs ? -1 : compareUtf8(ours.key, theirs.key);
    const inCache = order <= 0 ? ours : undefined;
    const inStore = order >= 0 ? theirs : undefined;
    const isSameRevision = inCache !== undefined && inCache.revision === inStore?.modRevision;
    // Bytes that are not in memory come from the store.
    const decoded = isSameRevision && inCache.isInMemory ? cache.decode(inStore) : undefined;
    if (!isSameRevision || (decoded && !inCache.hasBytes(decoded.bytes))) {
      const key = (inCache ?? inStore)!.key;
      const isLogged = mismatches.length < loggedMax;
      mismatches.push({
        ...{ prefix, revision, key, inCache: inCache?.revision, inStore: inStore?.modRevision },
        ...(decoded && isLogged && { fields: await differingPaths(inCache!, decoded) }),
      });
    }
    if (inCache) ours = valueOf(cached.next());
    if (inStore) theirs = valueOf(await stored.next());
  }
  return mismatches;
}

async function* storedItems(
  store: KvStore,
  prefix: string,
  revision: Revision,
  signal: AbortSignal | undefined,
): AsyncGenerator<KeyValue, undefined, undefined> {
  let from = prefix;
  for (;;) {
    const options = { from, limit: pageItems, revision, defersValues: true };
    const page = await store.range(prefix, { ...options, ...(signal && { signal }) });
    yield* page.items;
    const last = page.items.at(-1);
    if (!last || page.count <= page.items.length) return undefined;
    from = `${last.key}\0`;
  }
}

const valueOf = <T>(step: IteratorResult<T, undefined>): T | undefined => (step.done ? undefined : step.value);
