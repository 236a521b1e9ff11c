import type { Current, ResourceStore } from '../resource-store.js';
import type { Caller } from '../../cache/feed.js';

/** If the feed does not catch up within this time, the object is read from the store. */
const patienceMs = 500;

interface Recheck {
  /** The state after a change of another server; undefined if there is none. */
  readonly newer: Current | undefined;
  /** True if the stored value should be encrypted again, with the key that is used for writes. */
  readonly isStale: boolean;
}

const asRead: Recheck = { newer: undefined, isStale: false };

/**
 * Re-checks an object whose write is skipped. A no-op or a dry run does no compare-and-set, so a stale cache entry
 * would go unnoticed. Reads only the revision of the store, in a request shared with concurrent consistent reads, and then
 * the cache. An encrypted object is read from the store, since the cache does not know with which key it is stored.
 */
export async function recheckUnwritten(
  store: ResourceStore,
  key: string,
  current: Current,
  caller: Caller,
): Promise<Recheck> {
  const encrypted = await store.encryptedCurrent(key, caller);
  if (encrypted) {
    const { isStale, current: latest } = encrypted;
    return latest.revision === current.revision ? { newer: undefined, isStale } : { newer: latest, isStale };
  }
  if (!current.cached) return asRead;
  const latest = await caughtUp(store, caller).then(
    () => store.cachedCurrent(key),
    () => store.storedCurrent(key, caller),
  );
  return latest.revision === current.revision ? asRead : { newer: latest, isStale: false };
}

async function caughtUp({ dependencies, cache }: ResourceStore, { signal }: Caller): Promise<void> {
  await dependencies.feed.consistentRevision({ timeoutMs: patienceMs, caller: { signal } });
  cache.checkOpen();
}
