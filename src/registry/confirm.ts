import type { Current, ResourceStore } from './resource-store.js';

/** A feed that is further behind tells less than a look into the store. */
const patienceMs = 500;

/**
 * What is not written in the end is not compared by the store either: others, on other servers, may have changed or
 * removed it. Tells what is there instead of what the cache held, if that is something else. As consistent reads do, it
 * asks the store for its revision alone, together with all who ask at the moment, and then the cache.
 */
export async function newerThan(
  store: ResourceStore,
  key: string,
  current: Current,
  signal: AbortSignal | undefined,
): Promise<Current | undefined> {
  if (!current.cached) return undefined;
  const latest = await caughtUp(store, signal).then(
    () => store.cachedCurrent(key),
    () => store.storedCurrent(key, signal),
  );
  return latest.revision === current.revision ? undefined : latest;
}

async function caughtUp({ parts, cache }: ResourceStore, signal: AbortSignal | undefined): Promise<void> {
  await parts.feed.consistentRevision({ timeoutMs: patienceMs, ...(signal && { signal }) });
  cache.checkOpen();
}
