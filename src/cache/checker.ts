import type { Revision } from '../machinery/revision.js';
import type { KeyValue, KvStore } from '../storage/kv-store.js';
import { every, type Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { compareUtf8 } from '../std/sorted-map.js';
import type { EncodedObject } from './encoded-object.js';
import type { Feed } from './feed.js';
import type { WatchCache } from './watch-cache.js';

/** The cache does not hold what the store holds: a bug of ours, or of the store. */
export interface Mismatch {
  readonly prefix: string;
  readonly revision: Revision;
  readonly key: string;
  readonly inCache: Revision | undefined;
  readonly inStore: Revision | undefined;
}

const pageItems = 500;

interface RegularCheck {
  readonly feed: Feed;
  readonly store: KvStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0: never. */
  readonly intervalMs: number;
  /** Told of every check that was made. */
  readonly onChecked?: (mismatches: readonly Mismatch[]) => void;
}

/** How many mismatches are written out one by one. */
const loggedMax = 10;

/** Compares again and again, and tells of what differs. */
export function checkRegularly(parts: RegularCheck): { stop(): void } {
  const { feed, store, clock, logger, intervalMs, onChecked } = parts;
  if (intervalMs === 0) return { stop: () => undefined };
  const stopping = new AbortController();
  const timer = every(clock, intervalMs, async () => {
    try {
      const mismatches = await checkAgainstStore(feed, store, stopping.signal);
      for (const mismatch of mismatches.slice(0, loggedMax)) {
        logger.error('the cache differs from the store', { ...mismatch, mismatches: mismatches.length });
      }
      onChecked?.(mismatches);
    } catch (error) {
      if (!stopping.signal.aborted) logger.warn('the cache was not compared with the store', { error });
    }
  });
  return {
    stop() {
      timer.cancel();
      stopping.abort(new Error('the server stops'));
    },
  };
}

/** Compares every cache with the store at the feed's position, byte by byte. Rejects as the store does. */
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
  let ours = take(cached.next());
  let theirs = take(await stored.next());
  // Both sides are in order: the lower key is the one that the other side lacks.
  while (ours || theirs) {
    const order = !ours ? 1 : !theirs ? -1 : compareUtf8(ours.key, theirs.key);
    const inCache = order <= 0 ? ours : undefined;
    const inStore = order >= 0 ? theirs : undefined;
    if (!isSame(cache, inCache, inStore)) {
      const key = (inCache ?? inStore)!.key;
      mismatches.push({ prefix, revision, key, inCache: inCache?.revision, inStore: inStore?.modRevision });
    }
    if (inCache) ours = take(cached.next());
    if (inStore) theirs = take(await stored.next());
  }
  return mismatches;
}

function isSame(cache: WatchCache, inCache: EncodedObject | undefined, inStore: KeyValue | undefined): boolean {
  if (!inCache || !inStore || inCache.revision !== inStore.modRevision) return false;
  return inCache.bytes.equals(cache.decode(inStore).bytes);
}

async function* storedItems(
  store: KvStore,
  prefix: string,
  revision: Revision,
  signal: AbortSignal | undefined,
): AsyncGenerator<KeyValue, undefined, undefined> {
  let from = prefix;
  for (;;) {
    const page = await store.range(prefix, { from, limit: pageItems, revision, ...(signal && { signal }) });
    yield* page.items;
    const last = page.items.at(-1);
    if (!last || page.count <= page.items.length) return undefined;
    from = `${last.key}\0`;
  }
}

const take = <T>(step: IteratorResult<T, undefined>): T | undefined => (step.done ? undefined : step.value);
