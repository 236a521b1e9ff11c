import { FreshnessTimeout, type Caller, type Feed } from '../../cache/feed.js';
import type { WatchCache } from '../../cache/watch-cache.js';
import { ApiError } from '../../machinery/api-error.js';
import { revisionOption } from '../../machinery/option-parameters.js';
import type { Clock } from '../../std/clock.js';
import { Deferred } from '../../std/deferred.js';
import { storageToApiError } from '../storage-to-api-error.js';
import type { Cancellation } from '../../std/cancellation.js';

interface Dependencies {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly limits: { readonly freshnessTimeoutMs: number };
}

/** True if a read that accepts any state (`0`) need not wait, as most do not: the cache is loaded. */
export function servesAnyState(
  { feed }: Pick<Dependencies, 'feed'>,
  cache: WatchCache,
  resourceVersion: string | undefined,
  caller: Caller | undefined,
): boolean {
  if (resourceVersion !== '0' || !cache.isReady) return false;
  caller?.steps?.begin('cache');
  checkHistory(feed);
  cache.checkOpen();
  return true;
}

/**
 * Waits until the cache may serve a read: without a resourceVersion, until it holds all writes acknowledged before the
 * request; for `0`, until it is loaded; for another version, until it is at least that fresh.
 */
export async function readFresh(
  dependencies: Dependencies,
  cache: WatchCache,
  resourceVersion: string | undefined,
  caller: Caller | undefined,
): Promise<void> {
  caller?.steps?.begin('cache');
  checkHistory(dependencies.feed);
  if (!cache.isReady) await whenReady(dependencies, cache, caller?.signal);
  if (resourceVersion !== '0') await whenCaughtUp(dependencies, cache, resourceVersion, caller);
  // The cache is closed if the definition of the kind changed meanwhile: it would miss all later events.
  cache.checkOpen();
}

function checkHistory(feed: Feed): void {
  try {
    feed.checkHistory();
  } catch (error) {
    throw storageToApiError(error);
  }
}

async function whenCaughtUp(
  { feed, limits }: Dependencies,
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

/** Rejects if the cache is not loaded within freshnessTimeoutMs, or the request is aborted. */
async function whenReady(
  { clock, limits }: Dependencies,
  cache: WatchCache,
  signal: Cancellation | undefined,
): Promise<void> {
  const givenUp = new Deferred<never>();
  const giveUp = () => givenUp.reject(ApiError.unavailable('the cache of this resource is still loading'));
  const timer = clock.after(limits.freshnessTimeoutMs, giveUp);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    await Promise.race([cache.ready, givenUp.promise]);
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', giveUp);
  }
}
