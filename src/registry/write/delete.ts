import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { foregroundFinalizer, orphanFinalizer } from '../../machinery/finalizers.js';
import { nextGeneration, type Int64 } from '../../machinery/int64.js';
import type { DeleteOptions, PropagationPolicy } from '../../machinery/delete-options.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import { copyObject } from '../../patch/copy-json.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { recheckUnwritten } from './recheck-unwritten.js';
import type { Written } from './create.js';
import { checkPreconditions } from './preconditions.js';
import { retryOnConflict, type Attempt, type RetryOptions } from './retry-on-conflict.js';
import type { RequestContext } from '../request-context.js';
import type { Current, ResourceStore } from '../resource-store.js';
import type { DeletionStrategy } from '../definition/strategy.js';
import { objectTime, objectTimeMaxMs } from './system-fields.js';
import type { DeleteContext } from './write-context.js';

export interface Deleted {
  /** The last stored state. */
  readonly object: KubeObject;
  readonly encoded: EncodedObject | undefined;
  /** False if the object stays, marked with a deletionTimestamp, until its finalizers or its grace period end. */
  readonly gone: boolean;
}

/** The object was left unchanged because the caller's condition does not hold for it. */
interface Kept {
  readonly kept: KubeObject;
  readonly encoded: EncodedObject;
}

/** Another writer has changed the object before the compare-and-set. */
interface Overtaken {
  /** The state after the change of the other writer. */
  readonly newer: Current;
  /**
   * Set if the object was already marked with grace period 0. Every update then removes it. If it is gone afterwards,
   * or has another uid, the requested deletion has succeeded.
   */
  readonly ended?: Deleted;
}

interface Target {
  readonly namespace: string;
  readonly name: string;
}

/** Deletes the object, or sets its deletionTimestamp if finalizers or a grace period hold it. */
export function deleteObject(
  store: ResourceStore,
  target: Target,
  options: DeleteOptions,
  context: DeleteContext,
): Promise<Deleted> {
  const attempt = attemptsOf<never>(store, target, options, context, () => undefined);
  return retryOnConflict<Deleted>(store, target, retriesOf('cache', context), attempt);
}

/** Deletes the object if `condition` holds for its stored state, also after each conflict; otherwise returns it. */
export function deleteObjectIf(
  store: ResourceStore,
  target: Target,
  condition: (object: KubeObject) => boolean,
  options: DeleteOptions,
  context: DeleteContext,
): Promise<Deleted | Kept> {
  const keep = (encoded: EncodedObject): Kept | undefined => {
    const object = encoded.parse();
    return condition(object) ? undefined : { kept: object, encoded };
  };
  const attempt = attemptsOf<Kept>(store, target, options, context, keep);
  return retryOnConflict<Deleted | Kept>(store, target, retriesOf('store', context), attempt);
}

const retriesOf = (startFrom: RetryOptions['startFrom'], { request }: DeleteContext): RetryOptions => ({
  startFrom,
  takesTurn: false,
  caller: request,
});

/** Returns the attempt function of one deletion. It remembers that an earlier attempt has marked the object. */
function attemptsOf<K extends Kept>(
  store: ResourceStore,
  target: Target,
  options: DeleteOptions,
  context: DeleteContext,
  keep: (encoded: EncodedObject) => K | undefined,
): (current: Current) => Promise<Attempt<Deleted | K>> {
  const key = store.keyOf(target.namespace, target.name);
  let ended: Deleted | undefined;
  return async (current) => {
    if (ended && current.encoded?.parse().metadata.uid !== ended.object.metadata.uid) return { result: ended };
    if (!current.encoded) throw ApiError.notFound(store.groupResource, target.name);
    const kept = keep(current.encoded);
    if (kept !== undefined) return { result: kept };
    const outcome = await attemptDelete(store, key, current, options, context);
    if ('gone' in outcome) return { result: outcome };
    ended ??= outcome.ended;
    return { newer: outcome.newer };
  };
}

async function attemptDelete(
  store: ResourceStore,
  key: string,
  current: Current,
  options: DeleteOptions,
  context: DeleteContext,
): Promise<Deleted | Overtaken> {
  const { request, admission } = context;
  const { strategy } = store.definition;
  const timer = new YieldTimer(store.dependencies.clock);
  const encodedOld = current.encoded!;
  const old = encodedOld.isLarge ? await timer.run(encodedOld.parseInSteps()) : encodedOld.parse();
  if (timer.isDue()) await timer.yield();
  checkPreconditions(store, old, options.preconditions);
  strategy.deletion?.refuse?.(old);
  const { orphanWarning } = strategy.deletion ?? {};
  if (orphanWarning !== undefined && askedPolicy(options) === undefined && !request.warnings.includes(orphanWarning)) {
    request.warnings.push(orphanWarning);
  }
  await admission.validate(undefined, old);
  if (timer.isDue()) await timer.yield();

  const next = nextState(store, old, options, context);
  if (next.then === 'stays' || request.dryRun) {
    const { newer } = await recheckUnwritten(store, key, current, request);
    if (newer) return { newer };
  }
  if (next.then === 'stays') return { object: old, encoded: current.encoded, gone: false };
  const { object } = next;
  let before = current.revision;
  let encoded = current.encoded;
  if (object !== old) {
    if (request.dryRun) return { object, encoded: undefined, gone: next.then === 'goes' };
    if (timer.isDue()) await timer.yield();
    const value = store.codec.encode(object, key);
    if (timer.isDue()) await timer.yield();
    const marked = await store.commit(store.codec.put(key, value), before, request);
    if ('newer' in marked) return marked;
    before = marked.revision;
    encoded = store.codec.written(object, key, value, marked.revision);
    if (next.then === 'marked') return { object, encoded, gone: false };
  }
  if (request.dryRun) return { object: old, encoded: undefined, gone: true };
  const removed = await removeStored(store, key, old, before, request);
  if ('newer' in removed) return object === old ? removed : { ...removed, ended: { object, encoded, gone: true } };
  return { object, encoded, gone: true };
}

/**
 * `goes`: the object is removed; if `object` differs from the stored one, it is written first, so that watchers see its
 * deletionTimestamp.
 */
type Next = { readonly then: 'stays' } | { readonly then: 'marked' | 'goes'; readonly object: KubeObject };

function nextState(store: ResourceStore, old: KubeObject, options: DeleteOptions, context: DeleteContext): Next {
  const { deletion } = store.definition.strategy;
  const object: KubeObject = copyObject(old);
  const { metadata } = object;
  const finalizers = finalizersAfter(metadata.finalizers ?? [], options, deletion?.dependents);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;

  const isHeld = finalizers.length > 0 || (deletion?.holds?.(object) ?? false);
  // The grace period is already 0: a server crashed between marking the object and removing it.
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata;
  if (deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !isHeld)
    return { then: 'goes', object: old };
  const asked = options.gracePeriodSeconds;
  const grace = deletion?.graceSeconds?.(object, asked !== undefined && asked < 0 ? 1 : asked) ?? 0;
  if (grace === 0 && !isHeld) {
    if (!deletion?.graceSeconds) return { then: 'goes', object: old };
    markAsDeleted(store, object, old, 0, context);
    return { then: 'goes', object };
  }
  if (markAsDeleted(store, object, old, grace, context)) return { then: 'marked', object };
  return deepEqual(finalizers, old.metadata.finalizers ?? []) ? { then: 'stays' } : { then: 'marked', object };
}

/**
 * Sets deletionTimestamp and deletionGracePeriodSeconds. Returns false if nothing changed: the grace period of an
 * object that is being deleted can only be shortened.
 */
function markAsDeleted(
  store: ResourceStore,
  object: KubeObject,
  old: KubeObject,
  grace: Int64,
  { request }: DeleteContext,
): boolean {
  const { metadata } = object;
  const { deletion } = store.definition.strategy;
  const nowMs = store.dependencies.clock.now();
  if (old.metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = objectTime(nowMs + Number(grace) * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    if (!deletion?.keepsGeneration && (metadata.generation ?? 0) > 0) {
      metadata.generation = nextGeneration(metadata.generation);
    }
    const context = { user: request.user, now: objectTime(nowMs) };
    deletion?.prepareForDelete?.(object, context);
    return true;
  }
  if (grace >= (old.metadata.deletionGracePeriodSeconds ?? 0)) return false;
  const graceEndMs = (markedMs(old.metadata) ?? nowMs) + Number(grace) * 1000;
  metadata.deletionTimestamp = objectTime(Math.max(graceEndMs, nowMs));
  metadata.deletionGracePeriodSeconds = grace;
  return true;
}

/** Returns the time of the first deletion request; undefined if it is not known because objectTime() was limited. */
function markedMs({ deletionTimestamp = '', deletionGracePeriodSeconds = 0 }: ObjectMeta): number | undefined {
  const graceEndMs = Date.parse(deletionTimestamp);
  return graceEndMs < objectTimeMaxMs ? graceEndMs - Number(deletionGracePeriodSeconds) * 1000 : undefined;
}

/**
 * Returns the finalizers after a deletion request. The garbage collector handles dependents by the `orphan` and
 * `foregroundDeletion` finalizers: the requested policy wins, then a policy requested before, then the default of the
 * kind.
 */
function finalizersAfter(
  finalizers: readonly string[],
  options: DeleteOptions,
  usual: DeletionStrategy['dependents'],
): string[] {
  const others = finalizers.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  if (usual === 'ignore') return others;
  const policy = askedPolicy(options);
  if (policy === undefined) {
    if (others.length < finalizers.length || usual === undefined) return [...finalizers];
    return [...others, orphanFinalizer];
  }
  if (policy === 'Orphan') return [...others, orphanFinalizer];
  if (policy === 'Foreground') return [...others, foregroundFinalizer];
  return others;
}

function askedPolicy({ propagationPolicy, orphanDependents }: DeleteOptions): PropagationPolicy | undefined {
  if (orphanDependents === undefined) return propagationPolicy;
  return orphanDependents ? 'Orphan' : 'Background';
}

/** Deletes the key and releases what the object had reserved. */
async function removeStored(
  store: ResourceStore,
  key: string,
  old: KubeObject,
  expected: Revision,
  request: RequestContext,
) {
  const reservation = await store.reserve?.(undefined, old, request);
  try {
    return await store.commit({ type: 'delete', key }, expected, request, reservation);
  } finally {
    reservation?.end();
  }
}

/** Removes an object whose last finalizer an update has taken away. */
export async function finishDeletion(
  store: ResourceStore,
  object: KubeObject,
  old: KubeObject,
  current: Current,
  request: RequestContext,
): Promise<Attempt<Written>> {
  if (request.dryRun) return { result: { encoded: undefined, object, created: false } };
  // Removed without writing the last change first: the DELETED event carries the last stored state, as in
  // kube-apiserver.
  const result = await removeStored(store, current.encoded!.key, old, current.revision, request);
  if ('newer' in result) return result;
  return { result: { encoded: undefined, object, created: false } };
}
