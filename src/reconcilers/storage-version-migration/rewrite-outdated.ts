import type { EncodedObject } from '../../cache/encoded-object.js';
import { isReason, type LoopbackClient } from '../../client/loopback-client.js';
import { ApiError } from '../../machinery/api-error.js';
import type { Revision } from '../../machinery/revision.js';
import { readFresh } from '../../registry/read/freshness.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import type { Clock } from '../../std/clock.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import { YieldTimer } from '../../std/yield-timer.js';

/** Writes at a time: stores commit them together, so that an object does not cost a commit of its own. */
const writesMax = 16;

/** Thrown for an object that cannot be migrated, also not later. */
export class MigrationFailure extends Error {}

interface Options {
  readonly client: LoopbackClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** False when the migration was deleted meanwhile. */
  readonly isWanted: () => boolean;
}

/**
 * Writes all objects of a resource whose stored bytes are of an older version or encoding, and that were last written
 * at `upTo` or before. Objects that were changed or deleted meanwhile need no migration. Returns the number of written
 * objects. Throws MigrationFailure for an object that cannot be migrated; other errors may pass.
 */
export async function rewriteOutdated(served: ServedResource, upTo: Revision, options: Options): Promise<number> {
  const { store } = served;
  const { client, clock, signal, isWanted } = options;
  await readFresh(store.dependencies, store.cache, String(upTo), { signal });
  const concerns = (object: EncodedObject) =>
    object.revision <= upTo && (object.isOutdated || object.corruption !== undefined);
  const keys = await keysOf(store, concerns, clock);
  let written = 0;
  await forEachConcurrent(keys, { concurrency: writesMax, clock }, async (key) => {
    signal.throwIfAborted();
    // A closed cache is that of a former storage version.
    store.cache.checkOpen();
    const object = store.cache.get(key);
    if (!object || !concerns(object) || !isWanted()) return;
    if (await rewrite(served, object, client, signal)) written++;
  });
  return written;
}

/** Keys instead of a snapshot, which would keep all replaced objects in memory. */
async function keysOf(store: ResourceStore, concerns: (object: EncodedObject) => boolean, clock: Clock) {
  const keys: string[] = [];
  const timer = new YieldTimer(clock);
  for (const object of store.cache.snapshot().range(store.scopeOf(''))) {
    if (concerns(object)) keys.push(object.key);
    if (timer.isDue()) await timer.yield();
  }
  return keys;
}

/** Returns false for an object that was changed or deleted meanwhile. */
async function rewrite(
  served: ServedResource,
  object: EncodedObject,
  client: LoopbackClient,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name, uid } = object.attributes;
  const preconditions = { uid, resourceVersion: String(object.revision) };
  try {
    served.store.checkLossless(object);
  } catch (error) {
    throw failureOf(error as Error);
  }
  try {
    const written = await client.change({ served, namespace, name }, (current) => current, { preconditions, signal });
    return written !== undefined;
  } catch (error) {
    if (isReason(error, 'Conflict')) return false;
    throw error instanceof ApiError && !mayPass(error) ? failureOf(error) : error;
  }
}

const failureOf = (error: Error): MigrationFailure => new MigrationFailure(error.message, { cause: error });

const mayPass = ({ code, reason }: ApiError): boolean => code >= 500 || reason === 'TooManyRequests';
