import type { Caller } from '../../cache/feed.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { WriteTurn } from './write-turns.js';
import { mayBeStale, type Current, type ResourceStore } from '../resource-store.js';

/** The result of an attempt, or the newer state if another writer has changed the object before the compare-and-set. */
export type Attempt<Result> = { readonly result: Result } | { readonly newer: Current };

export interface RetryOptions {
  /** `cache` uses the cached state if the object is cached; `store` always reads the stored state. */
  readonly startFrom: 'cache' | 'store';
  /** True to wait for earlier writers of the object in this process (write-turns.ts). */
  readonly takesTurn: boolean;
  readonly caller: Caller;
}

/** `encoded` is the object as written; undefined if it was not written or is gone. */
interface Result {
  readonly encoded: EncodedObject | undefined;
}

/**
 * Repeats `attempt` on newer states of an object until its compare-and-set succeeds or the caller gives up, since each conflict
 * is the success of another writer. An attempt on a cached state that throws is repeated on the stored state, unless that is
 * the same.
 */
export async function retryOnConflict<R extends Result>(
  store: ResourceStore,
  target: { readonly namespace: string; readonly name: string },
  options: RetryOptions,
  attempt: (current: Current) => Promise<Attempt<R>>,
): Promise<R> {
  const key = store.keyOf(target.namespace, target.name);
  const repeated = { store, key, name: target.name, attempt };
  if (!options.takesTurn) return repeat(repeated, options);
  const taken = store.turns.take(key, options.caller.signal);
  const turns = { current: taken instanceof Promise ? await taken : taken };
  let result: R | undefined;
  try {
    result = await repeat(repeated, options, turns);
    return result;
  } finally {
    turns.current.leave(result?.encoded);
  }
}

interface RepeatedWrite<R> {
  readonly store: ResourceStore;
  readonly key: string;
  readonly name: string;
  readonly attempt: (current: Current) => Promise<Attempt<R>>;
}

async function repeat<R>(
  { store, key, name, attempt }: RepeatedWrite<R>,
  { startFrom, caller }: RetryOptions,
  turns?: { current: WriteTurn },
): Promise<R> {
  const { clock } = store.dependencies;
  let current = startFrom === 'cache' ? store.cachedCurrent(key) : undefined;
  if (current) current = newerOf(current, turns?.current.latest);
  if (!current?.encoded) current = await store.storedCurrent(key, caller);

  const timer = new YieldTimer(clock);
  for (let unchanged = 0; unchanged <= unchangedRetriesMax;) {
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
    unchanged = outcome.newer.revision === current.revision ? unchanged + 1 : 0;
    current = outcome.newer;
    if (timer.isDue()) await timer.yield();
    if (!turns?.current.isPassed) continue;
    // Otherwise writers that overlap would all repeat their work whenever one of them succeeds.
    turns.current = await store.turns.take(key, caller.signal);
    current = newerOf(newerOf(current, store.cachedCurrent(key).encoded), turns.current.latest);
  }
  throw ApiError.conflict(store.groupResource, name, conflictsWithoutChange);
}

/** `latest` is the object as the previous writer left it, which the cache may not hold yet. */
function newerOf(current: Current, latest: EncodedObject | undefined): Current {
  if (!latest || latest.revision <= current.revision) return current;
  return { encoded: latest, revision: latest.revision, cached: true };
}

/** Retries in a row that find the object unchanged: its reservation, or a plug-in, fails as if other writers were the cause. */
const unchangedRetriesMax = 5;
const conflictsWithoutChange =
  'other writes conflicted on every attempt, although the object did not change; please try again';
