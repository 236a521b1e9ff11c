import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { boundedErrors } from '../../machinery/error-budget.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { nextGeneration } from '../../machinery/int64.js';
import { validateObjectMetaUpdate } from '../../machinery/object-meta-validation.js';
import { asJson, type KubeObject } from '../../machinery/kube-object.js';
import { withoutIdleTimes } from '../../patch/apply/idle-times.js';
import { untilReady } from '../../std/not-ready.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { recheckUnwritten } from './recheck-unwritten.js';
import { createObject, type Written } from './create.js';
import { finishDeletion } from './delete.js';
import { restoreManagedFields } from './admitted-fields.js';
import { dropDuplicateOwners } from './owner-references.js';
import { checkPreconditions, type Preconditions } from './preconditions.js';
import { prepareUpdated } from './prepare.js';
import type { Reservation } from './reservation.js';
import { retryOnConflict, type Attempt } from './retry-on-conflict.js';
import type { ViewSubresource } from '../definition/resource-definition.js';
import { toServedVersion } from '../definition/served-version.js';
import type { Current, ResourceStore } from '../resource-store.js';
import { objectTime } from './system-fields.js';
import { updateErrors } from './update-errors.js';
import { servedDefinitionOf, type WriteContext } from './write-context.js';

/**
 * A pure function from the current object to the whole new object. It may run several times and changes no argument. If
 * the result has a resourceVersion, the current object must have the same.
 */
export type Change = (
  current: KubeObject | undefined,
  encoded: EncodedObject | undefined,
) => KubeObject | Promise<KubeObject>;

export interface UpdateOptions {
  readonly preconditions?: Preconditions | undefined;
  readonly subresource?: ViewSubresource | undefined;
  /** Rejects a PUT without a resourceVersion, for kinds that require one. */
  readonly requiresResourceVersion: boolean;
  readonly createsMissing: boolean;
  /** Called with the new object, with its defaults, and the current one. */
  readonly beforeAdmission?: ((object: KubeObject, old: KubeObject) => void) | undefined;
}

/**
 * Updates an object: read → change → default → admission → prepare → reserve → validate → compare-and-set, retried on
 * conflict. Conflicts come from other servers only, since writers of this process take turns (write-turns.ts).
 */
export function updateObject(
  store: ResourceStore,
  target: { namespace: string; name: string },
  change: Change,
  options: UpdateOptions,
  context: WriteContext,
): Promise<Written> {
  const { request } = context;
  // A dry run writes nothing, so it need not be ordered with other writers.
  const retries = { startFrom: 'cache', takesTurn: !request.dryRun, caller: request } as const;
  const attempt = (current: Current) => attemptUpdate(store, target, current, change, options, context);
  return retryOnConflict(store, target, retries, attempt);
}

const otherVersion = 'the object has been modified; please apply your changes to the latest version and try again';

async function attemptUpdate(
  store: ResourceStore,
  target: { namespace: string; name: string },
  current: Current,
  change: Change,
  options: UpdateOptions,
  context: WriteContext,
): Promise<Attempt<Written>> {
  const { definition, dependencies } = store;
  const { request, admission } = context;
  if (!current.encoded) return createMissing(store, target, change, options, context);

  store.checkRewritable(current.encoded);
  const timer = new YieldTimer(dependencies.clock);
  const stored = current.encoded.isLarge ? await timer.run(current.encoded.parseInSteps()) : current.encoded.parse();
  if (timer.isDue()) await timer.yield();
  // An object of a custom kind may be stored in an earlier storage version.
  const old = definition.hub
    ? await untilReady(() => toServedVersion(definition, stored), request.steps?.trace)
    : stored;
  checkPreconditions(store, old, options.preconditions);
  const submitted = await untilReady(() => change(old, current.encoded), request.steps?.trace);
  checkVersion(store, target.name, submitted, old, options);
  if (timer.isDue()) await timer.yield();

  const strategyContext = { user: request.user, now: objectTime(dependencies.clock.now()) };
  const put = options.subresource ? options.subresource.put(old, submitted) : submitted;
  const object = put === old || put.metadata === old.metadata ? { ...put, metadata: { ...put.metadata } } : put;
  const metaErrors = boundedErrors(() => validateObjectMetaUpdate(object.metadata, old.metadata));
  // put() of a subresource may leave out metadata of the submitted object.
  const { mode } = context.managedFields;
  if (options.subresource && mode === 'supplied' && Object.hasOwn(submitted.metadata, 'managedFields')) {
    const { managedFields } = submitted.metadata;
    if (managedFields) object.metadata.managedFields = managedFields;
    else delete object.metadata.managedFields;
  }
  keepSystemFields(object, old);
  if (timer.isDue()) await timer.yield();
  store.fillTypeDefaults(object);
  if (timer.isDue()) await timer.yield();
  store.fillKindDefaults(object);
  dropDuplicateOwners(object, request.warnings);
  if (timer.isDue()) await timer.yield();
  const tracked = untilReady(
    () => timer.run(store.track(old, object, context, strategyContext.now)),
    request.steps?.trace,
  );
  if (tracked) await tracked;
  if (timer.isDue()) await timer.yield();
  const { managedFields } = object.metadata;
  options.beforeAdmission?.(object, old);
  await admission.admit(object, old);
  restoreManagedFields(object, managedFields, request.warnings);
  if (timer.isDue()) await timer.yield();
  dropDuplicateOwners(object, request.warnings);
  keepSystemFields(object, old);
  store.dropGated(object, old);
  if (options.subresource) options.subresource.prepare?.(object, old, strategyContext);
  else prepareUpdated(servedDefinitionOf(definition, context), object, old, strategyContext);
  if (timer.isDue()) await timer.yield();
  // A write through a subresource (status) does not change reserved fields.
  const reservation = options.subresource ? undefined : await store.reserve?.(object, old, request);
  try {
    return await writeUpdate(store, target.name, { object, old, current, metaErrors }, options, context, reservation);
  } finally {
    reservation?.end();
  }
}

interface UpdatedState {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly current: Current;
  readonly metaErrors: readonly FieldError[];
}

async function writeUpdate(
  store: ResourceStore,
  name: string,
  { object, old, current, metaErrors }: UpdatedState,
  options: UpdateOptions,
  context: WriteContext,
  reservation: Reservation | undefined,
): Promise<Attempt<Written>> {
  const { definition, dependencies } = store;
  const { request, admission } = context;
  const { strategy } = servedDefinitionOf(definition, context);
  const strategyContext = { user: request.user, now: objectTime(dependencies.clock.now()), warnings: request.warnings };
  const timer = new YieldTimer(dependencies.clock);
  const countsGeneration = strategy.countsGenerations && !options.subresource?.keepsGeneration;
  if (countsGeneration && hasChanged(object, old, strategy.countsGenerations === 'statusToo')) {
    object.metadata.generation = nextGeneration(old.metadata.generation);
  }

  if (timer.isDue()) await timer.yield();
  const handwritten = await untilReady(() =>
    timer.run(
      updateErrors(
        { object, old, metaErrors },
        { definition, strategy, subresource: options.subresource },
        strategyContext,
      ),
    ),
  );
  if (timer.isDue()) await timer.yield();
  const errors = store.mergeDeclaredErrors(object, old, handwritten);
  if (timer.isDue()) await timer.yield();
  if (errors.length > 0)
    throw ApiError.invalid(
      options.subresource?.invalidKind ?? options.subresource?.viewKind ?? definition,
      name,
      errors,
    );
  request.warnings.push(...(strategy.warnings?.(object, old) ?? []));
  if (timer.isDue()) await timer.yield();
  const canonical = store.canonical(object);
  if (timer.isDue()) await timer.yield();
  await admission.validate(object, old, canonical);
  if (timer.isDue()) await timer.yield();

  const key = current.encoded!.key;
  const isEqual = deepEqual(canonical, old);
  if (timer.isDue()) await timer.yield();
  const final = isEqual ? canonical : (withoutIdleTimes(asJson(old), asJson(canonical)) as unknown as KubeObject);
  if (timer.isDue()) await timer.yield();
  const isSame = !current.encoded!.isOutdated && (isEqual || deepEqual(final, old));
  if (timer.isDue()) await timer.yield();
  let isStale = false;
  if (isSame || request.dryRun) {
    const recheck = await recheckUnwritten(store, key, current, request);
    if (recheck.newer) return { newer: recheck.newer };
    isStale = recheck.isStale && !request.dryRun;
  }
  if (isSame && !isStale) return { result: { encoded: current.encoded, object: old, created: false } };
  if (final.metadata.deletionTimestamp && !isHeld(store, final)) {
    return finishDeletion(store, final, old, current, request);
  }
  const value = store.codec.encode(final, key);
  if (timer.isDue()) await timer.yield();
  if (request.dryRun) return { result: { encoded: undefined, object: final, created: false } };
  const result = await store.commit(store.codec.put(key, value), current.revision, request, reservation);
  if ('newer' in result) return result;
  return {
    result: { encoded: store.codec.written(final, key, value, result.revision), object: final, created: false },
  };
}

/** Creates the object, or returns the state that another writer has created meanwhile. */
async function createMissing(
  store: ResourceStore,
  target: { namespace: string; name: string },
  change: Change,
  options: UpdateOptions,
  context: WriteContext,
): Promise<Attempt<Written>> {
  try {
    return { result: await createFrom(store, target, change, options, context) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    const key = store.keyOf(target.namespace, target.name);
    return { newer: await store.storedCurrent(key, context.request) };
  }
}

async function createFrom(
  store: ResourceStore,
  target: { namespace: string; name: string },
  change: Change,
  options: UpdateOptions,
  context: WriteContext,
): Promise<Written> {
  if (!options.createsMissing) throw ApiError.notFound(store.groupResource, target.name);
  const object = await change(undefined, undefined);
  const uid = options.preconditions?.uid ?? object.metadata.uid;
  if (uid) {
    const isApply = context.managedFields.mode === 'supplied';
    throw ApiError.conflict(
      store.groupResource,
      target.name,
      isApply
        ? `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
        : `Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
    );
  }
  const { resourceVersion } = options.preconditions ?? {};
  if (object.metadata.resourceVersion || resourceVersion !== undefined)
    throw ApiError.notFound(store.groupResource, target.name);
  return createObject(store, object, context);
}

/** True if finalizers, a grace period or the kind keep an object that is being deleted. */
function isHeld(store: ResourceStore, object: KubeObject): boolean {
  return (
    (object.metadata.finalizers?.length ?? 0) > 0 ||
    (object.metadata.deletionGracePeriodSeconds ?? 0) > 0 ||
    (store.definition.strategy.deletion?.holds?.(object) ?? false)
  );
}

function checkVersion(
  store: ResourceStore,
  name: string,
  submitted: KubeObject,
  old: KubeObject,
  options: UpdateOptions,
): void {
  const { resourceVersion, uid } = submitted.metadata;
  if (uid && uid !== old.metadata.uid) {
    throw ApiError.conflict(
      store.groupResource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  if (!resourceVersion || resourceVersion === '0') {
    if (options.requiresResourceVersion) {
      throw ApiError.invalid({ group: store.definition.group, kind: store.definition.plural }, name, [
        fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
    return;
  }
  if (resourceVersion !== old.metadata.resourceVersion) {
    throw ApiError.conflict(store.groupResource, name, otherVersion);
  }
}

/** Restores metadata that no client can change. */
function keepSystemFields(object: KubeObject, old: KubeObject): void {
  const { metadata } = object;
  for (const field of keptFields) {
    const kept = old.metadata[field];
    if (kept !== undefined && kept !== null) (metadata as Record<string, unknown>)[field] = kept;
    else if (field in metadata) delete metadata[field];
  }
  metadata.name = old.metadata.name!;
  if (old.metadata.namespace === undefined) delete metadata.namespace;
  else metadata.namespace = old.metadata.namespace;
  delete metadata.selfLink;
}

const keptFields = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'resourceVersion',
  'generation',
] as const;

/** Compares everything but metadata, and status only if `statusToo`. */
function hasChanged(object: KubeObject, old: KubeObject, statusToo: boolean): boolean {
  const isCounted = (field: string) => field !== 'metadata' && (statusToo || field !== 'status');
  for (const field in object) if (isCounted(field) && !deepEqual(object[field], old[field])) return true;
  for (const field in old) if (isCounted(field) && object[field] === undefined && old[field] !== undefined) return true;
  return false;
}
