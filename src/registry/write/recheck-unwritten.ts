import type { Current, ResourceStore } from '../resource-store.js';
import type { Caller } from '../../cache/feed.js';

/** If the feed does not catch up within this time, the object is read from the store. */
const patienceMs = 500;

/**
 * Re-checks an object whose write is skipped. A no-op or a dry run does no compare-and-set, so a stale cache entry
 * would go unnoticed. Returns the newer state if another server has changed or deleted the object, otherwise undefined.
 * Reads only the revision of the store, in a request shared with concurrent consistent reads, and then the cache.
 */
export async function recheckUnwritten(
  store: ResourceStore,
  key: string,
  current: Current,
  caller: Caller,
): Promise<Current | undefined> {
  if (!current.cached) return undefined;
  const latest = await caughtUp(store, caller).then(
    () => store.cachedCurrent(key),
    () => store.storedCurrent(key, caller),
  );
  return latest.revision === current.revision ? undefined : latest;
}

async function caughtUp({ dependencies, cache }: ResourceStore, { signal }: Caller): Promise<void> {
  await dependencies.feed.consistentRevision({ timeoutMs: patienceMs, caller: { signal } });
  cache.checkOpen();
}
