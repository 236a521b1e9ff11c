import type { Current, ResourceStore } from './resource-store.js';

/**
 * What is not written in the end is not compared by the store either: others, on other servers, may have changed or
 * removed it. Tells what is there instead of what the cache holds, if that is something else.
 */
export async function newerThan(
  store: ResourceStore,
  key: string,
  current: Current,
  signal: AbortSignal | undefined,
): Promise<Current | undefined> {
  if (!current.cached) return undefined;
  const stored = await store.storedCurrent(key, signal);
  return stored.revision === current.revision ? undefined : stored;
}
