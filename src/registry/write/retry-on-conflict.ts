import type { Caller } from '../../cache/feed.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { mayBeStale, type Current, type ResourceStore } from '../resource-store.js';

/** The result of an attempt, or the newer state if another writer has changed the object before the compare-and-set. */
export type Attempt<Result> = { readonly result: Result } | { readonly newer: Current };

export interface RetryOptions {
  /** `cache` uses the cached state if the object is cached; `store` always reads the stored state. */
  readonly startFrom: 'cache' | 'store';
  /** True to wait for earlier writers of the object in this process (write-turns.ts). */
  readonly takesTurn: boolean;
  readonly caller: Caller;
  /** Message of the Conflict error (409) if writeConflictRetriesMax retries conflicted too. */
  readonly conflictMessage: string;
}

/** `encoded` is the object as written; undefined if it was not written or is gone. */
interface Result {
  readonly encoded: EncodedObject | undefined;
}

/**
 * Repeats `attempt` on newer states of an object until its compare-and-set succeeds. An attempt on a cached state that
 * throws is repeated on the stored state, unless that is the same.
 */
export async function retryOnConflict<R extends Result>(
  store: ResourceStore,
  target: { readonly namespace: string; readonly name: string },
  options: RetryOptions,
  attempt: (current: Current) => Promise<Attempt<R>>,
): Promise<R> {
  const key = store.keyOf(target.namespace, target.name);
  const repeated = { store, key, name: target.name, attempt };
  if (!options.takesTurn) return repeat(repeated, options, undefined);
  const taken = store.turns.take(key, options.caller.signal);
  const turn = taken instanceof Promise ? await taken : taken;
  let result: R | undefined;
  try {
    result = await repeat(repeated, options, turn.latest);
    return result;
  } finally {
    turn.leave(result?.encoded);
  }
}

interface RepeatedWrite<R> {
  readonly store: ResourceStore;
  readonly key: string;
  readonly name: string;
  readonly attempt: (current: Current) => Promise<Attempt<R>>;
}

/** `latest` is the object as the previous writer left it, which the cache may not hold yet. */
async function repeat<R>(
  { store, key, name, attempt }: RepeatedWrite<R>,
  { startFrom, caller, conflictMessage }: RetryOptions,
  latest: EncodedObject | undefined,
): Promise<R> {
  const { clock, limits } = store.dependencies;
  let current = startFrom === 'cache' ? store.cachedCurrent(key) : undefined;
  if (current && latest && latest.revision > current.revision) {
    current = { encoded: latest, revision: latest.revision, cached: true };
  }
  if (!current?.encoded) current = await store.storedCurrent(key, caller);

  const timer = new YieldTimer(clock);
  for (let retries = 0; retries <= limits.writeConflictRetriesMax; retries++) {
    let outcome: Attempt<R>;
    try {
      outcome = await attempt(current);
    } catch (error) {
      if (!current.cached || !mayBeStale(error)) throw error;
      if (timer.isDue()) await timer.yield();
      const stored = await store.storedCurrent(key, caller);
      if (timer.isDue()) await timer.yield();
      if (stored.revision === current.revision) throw error;
      current = stored;
      continue;
    }
    if ('result' in outcome) return outcome.result;
    current = outcome.newer;
  }
  throw ApiError.conflict(store.groupResource, name, conflictMessage);
}
