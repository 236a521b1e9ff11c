import { FreshnessTimeout, type Caller, type Feed } from '../../cache/feed.js';
import type { WatchCache } from '../../cache/watch-cache.js';
import { ApiError } from '../../machinery/api-error.js';
import { revisionOption } from '../../machinery/list-options.js';
import { storageToApiError } from '../storage-to-api-error.js';

interface Parts {
  readonly feed: Feed;
  readonly limits: { readonly freshnessTimeoutMs: number };
}

/**
 * Waits until the cache may serve a read: without a resourceVersion, until it holds all writes acknowledged before the
 * request; for `0`, until it is loaded; for another version, until it is at least that fresh.
 */
export async function readFresh(
  { feed, limits }: Parts,
  cache: WatchCache,
  resourceVersion: string | undefined,
  caller: Caller | undefined,
): Promise<void> {
  if (!cache.isReady) await whenReady(cache, limits.freshnessTimeoutMs, caller?.signal);
  if (resourceVersion !== '0') await whenCaughtUp({ feed, limits }, cache, resourceVersion, caller);
  // The cache is closed if the definition of the kind changed meanwhile: it would miss all later events.
  cache.checkOpen();
}

async function whenCaughtUp(
  { feed, limits }: Parts,
  cache: WatchCache,
  resourceVersion: string | undefined,
  caller: Caller | undefined,
): Promise<void> {
  const options = { timeoutMs: limits.freshnessTimeoutMs, caller };
  try {
    if (resourceVersion === undefined || resourceVersion === '') {
      await feed.consistentRevision(options);
      cache.counts.consistentReads++;
    } else await feed.waitFor(revisionOption(resourceVersion), options);
  } catch (error) {
    cache.counts.staleReads++;
    if (error instanceof FreshnessTimeout) throw ApiError.tooLargeResourceVersion(error.requested, error.current);
    throw storageToApiError(error);
  }
}

async function whenReady(cache: WatchCache, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  const gaveUp = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  await Promise.race([
    cache.ready,
    new Promise<never>((_, reject) =>
      gaveUp.addEventListener(
        'abort',
        () => reject(ApiError.unavailable('the cache of this resource is still loading')),
        {
          once: true,
        },
      ),
    ),
  ]);
}
