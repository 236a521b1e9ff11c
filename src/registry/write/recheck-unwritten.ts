import type { Current, ResourceStore } from '../resource-store.js';
import type { Cancellation } from '../../std/cancellation.js';

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
  signal: Cancellation | undefined,
): Promise<Current | undefined> {
  if (!current.cached) return undefined;
  const latest = await caughtUp(store, signal).then(
    () => store.cachedCurrent(key),
    () => store.storedCurrent(key, signal),
  );
  return latest.revision === current.revision ? undefined : latest;
}

async function caughtUp({ dependencies, cache }: ResourceStore, signal: Cancellation | undefined): Promise<void> {
  await dependencies.feed.consistentRevision({ timeoutMs: patienceMs, caller: { signal } });
  cache.checkOpen();
}
