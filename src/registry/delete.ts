import { ApiError } from '../machinery/api-error.js';
import type { DeleteOptions } from '../machinery/list-options.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import type { Written } from './create.js';
import { checkPreconditions } from './preconditions.js';
import type { RequestContext } from './request-context.js';
import type { Current, ResourceStore } from './resource-store.js';
import { objectTime } from './system-fields.js';
import type { WriteContext } from './write-context.js';

export interface Deleted {
  /** The last state; with `gone`, its resourceVersion is still that before the deletion. */
  readonly object: KubeObject;
  readonly encoded: EncodedObject | undefined;
  /** False when the object stays for now: marked, and held by finalizers or its grace period. */
  readonly gone: boolean;
}

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/**
 * Deletes the object, or marks it when something holds it. What it depends on is read from the cache first and
 * believed only when the store's compare-and-set agrees.
 */
export async function deleteObject(
  store: ResourceStore,
  target: { namespace: string; name: string },
  options: DeleteOptions,
  context: WriteContext,
): Promise<Deleted> {
  const key = store.keyOf(target.namespace, target.name);
  const { signal } = context.request;
  let current = store.cachedCurrent(key);
  if (!current.encoded) current = await store.storedCurrent(key, signal);

  for (let attempt = 0; attempt <= store.parts.limits.writeConflictRetriesMax; attempt++) {
    if (!current.encoded) throw ApiError.notFound(store.groupResource, target.name);
    try {
      const outcome = await attemptDelete(store, key, current, options, context);
      if ('gone' in outcome) return outcome;
      current = outcome.newer;
    } catch (error) {
      if (!current.cached || !(error instanceof ApiError)) throw error;
      const stored = await store.storedCurrent(key, signal);
      if (stored.revision === current.revision) throw error;
      current = stored;
    }
  }
  throw ApiError.conflict(
    store.groupResource,
    target.name,
    'the object was changed by others again and again while it was to be deleted',
  );
}

async function attemptDelete(
  store: ResourceStore,
  key: string,
  current: Current,
  options: DeleteOptions,
  context: WriteContext,
): Promise<Deleted | { readonly newer: Current }> {
  const { request, admission } = context;
  const { strategy } = store.definition;
  const old = current.encoded!.parse();
  checkPreconditions(store, old, options.preconditions);
  strategy.deletion?.refuse?.(old);
  await admission.validate(undefined, old);

  const marked = mark(store, old, options, context);
  if (marked === undefined) {
    if (request.dryRun) return { object: old, encoded: undefined, gone: true };
    const result = await store.commit({ type: 'delete', key }, current.revision, request.signal);
    if ('newer' in result) return result;
    return { object: old, encoded: current.encoded?.at(result.revision), gone: true };
  }
  if (marked === old) return { object: old, encoded: current.encoded, gone: false };
  if (request.dryRun) return { object: marked, encoded: undefined, gone: false };
  const value = store.codec.encode(marked);
  const result = await store.commit({ type: 'put', key, value }, current.revision, request.signal);
  if ('newer' in result) return result;
  return { object: marked, encoded: store.codec.written(marked, key, value, result.revision), gone: false };
}

/** The object as it stays while something holds it, `old` itself when it is marked already, undefined when it may go. */
function mark(
  store: ResourceStore,
  old: KubeObject,
  options: DeleteOptions,
  context: WriteContext,
): KubeObject | undefined {
  const { deletion } = store.definition.strategy;
  const nowMs = store.parts.clock.now();
  const object: KubeObject = structuredClone(old);
  const { metadata } = object;
  const finalizers = finalizersAfter(metadata.finalizers ?? [], options);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;

  const wasMarked = old.metadata.deletionTimestamp !== undefined;
  const requested = options.gracePeriodSeconds === undefined ? undefined : Math.max(1, options.gracePeriodSeconds);
  const asked = options.gracePeriodSeconds === 0 ? 0 : requested;
  const grace = deletion?.graceSeconds?.(object, asked) ?? 0;
  const held = finalizers.length > 0 || (deletion?.holds?.(object) ?? false);
  if (grace === 0 && !held) return undefined;

  if (!wasMarked) {
    metadata.deletionTimestamp = objectTime(nowMs + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    if (metadata.generation !== undefined && metadata.generation > 0) metadata.generation++;
    deletion?.prepareForDelete?.(object, { user: context.request.user, now: objectTime(nowMs) });
    return object;
  }
  const before = old.metadata.deletionGracePeriodSeconds ?? 0;
  if (grace < before) {
    const markedMs = Date.parse(old.metadata.deletionTimestamp!) - before * 1000;
    metadata.deletionTimestamp = objectTime(Math.max(markedMs + grace * 1000, nowMs));
    metadata.deletionGracePeriodSeconds = grace;
    return object;
  }
  return finalizers.length === (old.metadata.finalizers ?? []).length ? old : object;
}

/** A propagation policy is a finalizer for the garbage collector; asking for another one replaces it. */
function finalizersAfter(finalizers: readonly string[], options: DeleteOptions): string[] {
  const policy =
    options.propagationPolicy ??
    (options.orphanDependents === undefined ? undefined : options.orphanDependents ? 'Orphan' : 'Background');
  if (policy === undefined) return [...finalizers];
  const others = finalizers.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  if (policy === 'Orphan') return [...others, orphanFinalizer];
  if (policy === 'Foreground') return [...others, foregroundFinalizer];
  return others;
}

/** The last step of a deletion that an update completes: the object that nothing holds any more is removed. */
export async function finishDeletion(
  store: ResourceStore,
  key: string,
  object: KubeObject,
  current: Current,
  request: RequestContext,
): Promise<{ readonly written: Written } | { readonly newer: Current }> {
  if (request.dryRun) return { written: { encoded: undefined, object, created: false } };
  // Two revisions would tell watchers more, but a deletion carries the last state that was stored, as kube-apiserver's does.
  const result = await store.commit({ type: 'delete', key }, current.revision, request.signal);
  if ('newer' in result) return result;
  return { written: { encoded: undefined, object, created: false } };
}
