import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { boundedErrorsInSteps } from '../../machinery/error-budget.js';
import type { FieldError } from '../../machinery/field-error.js';
import { validateObjectMeta } from '../../machinery/object-meta-validation.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { noRevision } from '../../machinery/revision.js';
import { copyObject } from '../../patch/copy-json.js';
import type { Steps } from '../../std/steps.js';
import { untilReady } from '../../std/not-ready.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { restoreManagedFields } from './admitted-fields.js';
import { dropDuplicateOwners } from './owner-references.js';
import { prepareCreated } from './prepare.js';
import type { Reservation } from './reservation.js';
import type { ResourceStore } from '../resource-store.js';
import { generateName, objectTime } from './system-fields.js';
import type { Strategy, StrategyContext } from '../definition/strategy.js';
import { servedDefinitionOf, type WriteContext } from './write-context.js';

/** The result of a write: the object as stored (or as a dry run would store it), and whether it was created. */
export interface Written {
  readonly encoded: EncodedObject | undefined;
  readonly object: KubeObject;
  readonly created: boolean;
}

/**
 * Returns the context for a create with several attempts: validating admission runs in the first one only, because it
 * charges ResourceQuotas. Attempts differ in a generated name or in what was reserved, not in what the client asked for.
 */
function validatedOnce(context: WriteContext): WriteContext {
  const { admission } = context;
  let validated: Promise<void> | undefined;
  return {
    ...context,
    admission: {
      admit: (object, old) => admission.admit(object, old),
      validate: (object, old, canonical) => (validated ??= admission.validate(object, old, canonical)),
    },
  };
}

/**
 * Creates an object. Steps: default → mutating admission → name → system fields → prepare → reserve → validate → warn →
 * validating admission → one transaction. `object` belongs to this function and is changed.
 */
export async function createObject(store: ResourceStore, object: KubeObject, context: WriteContext): Promise<Written> {
  const { definition, dependencies } = store;
  const { request, admission } = context;
  const servedDefinition = servedDefinitionOf(definition, context);
  const { strategy } = servedDefinition;
  if (strategy.refusesCreate !== undefined) {
    throw ApiError.forbidden(store.groupResource, object.metadata.name ?? '', strategy.refusesCreate);
  }
  const strategyContext = {
    user: request.user,
    now: objectTime(dependencies.clock.now()),
    warnings: request.warnings,
    featureGates: dependencies.featureGates,
  };

  const timer = new YieldTimer(dependencies.clock);
  const uid = dependencies.rng.uuid();
  fillSystemFields(object, strategyContext.now, uid, definition.namespaced);
  store.fillTypeDefaults(object);
  if (timer.isDue()) await timer.yield();
  store.fillKindDefaults(object);
  dropDuplicateOwners(object, request.warnings);
  if (timer.isDue()) await timer.yield();
  const tracked = untilReady(
    () => timer.run(store.track(undefined, object, context, strategyContext.now)),
    request.steps?.trace,
  );
  if (tracked) await tracked;
  if (timer.isDue()) await timer.yield();
  const { managedFields } = object.metadata;
  await admission.admit(object, undefined);
  restoreManagedFields(object, managedFields, request.warnings);
  if (timer.isDue()) await timer.yield();
  // A policy may have replaced them: the garbage collector relies on uids that no writer chooses.
  fillSystemFields(object, strategyContext.now, uid, definition.namespaced);
  dropDuplicateOwners(object, request.warnings);
  store.dropGated(object, undefined);
  if (timer.isDue()) await timer.yield();
  const { generateName: base, name } = object.metadata;
  if (!name && base) return createGenerated(store, object, base, validatedOnce(context), strategyContext);
  return createNamed(store, object, store.reserve ? validatedOnce(context) : context, strategyContext);
}

/** Creates an object with a generated name, which mutating admission has not seen. Tries others if the name is taken. */
async function createGenerated(
  store: ResourceStore,
  object: KubeObject,
  base: string,
  context: WriteContext,
  strategyContext: StrategyContext,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    const candidate = copyObject(object);
    candidate.metadata.name = generateName(base, store.dependencies.rng);
    try {
      return await createNamed(store, candidate, context, strategyContext);
    } catch (error) {
      const isTaken = error instanceof ApiError && error.reason === 'AlreadyExists';
      if (!isTaken || attempt >= store.dependencies.limits.generateNameRetriesMax) throw error;
    }
  }
}

async function createNamed(
  store: ResourceStore,
  object: KubeObject,
  context: WriteContext,
  strategyContext: StrategyContext,
): Promise<Written> {
  const { dependencies } = store;
  const { request } = context;
  const servedDefinition = servedDefinitionOf(store.definition, context);
  const timer = new YieldTimer(dependencies.clock);
  prepareCreated(servedDefinition, object, strategyContext);
  if (servedDefinition.strategy.countsGenerations) object.metadata.generation = 1;
  if (timer.isDue()) await timer.yield();

  if (!store.reserve) return (await writeNew(store, object, context, strategyContext, undefined))!;
  for (let attempt = 0; attempt <= reservationRetriesMax; attempt++) {
    // Copied, so that fields filled in by a failed attempt are not taken as set by the client in the next one.
    const candidate = copyObject(object);
    const reservation = await store.reserve(candidate, undefined, request);
    try {
      const written = await writeNew(store, candidate, context, strategyContext, reservation);
      if (written) return written;
    } finally {
      reservation?.end();
    }
  }
  throw ApiError.conflict(
    store.groupResource,
    object.metadata.name ?? '',
    'could not reserve what the object needs: other writers changed the same allocation on every attempt; please try again',
  );
}

/** Each retry reserves something else, unless the client asks for what another writer has. */
const reservationRetriesMax = 5;

/** Returns undefined if the object does not exist but a reserved key has changed; the caller then retries. */
async function writeNew(
  store: ResourceStore,
  object: KubeObject,
  context: WriteContext,
  strategyContext: StrategyContext,
  reservation: Reservation | undefined,
): Promise<Written | undefined> {
  const { definition } = store;
  const { request, admission } = context;
  const { strategy } = servedDefinitionOf(definition, context);
  const timer = new YieldTimer(store.dependencies.clock);
  const handwritten = await untilReady(() =>
    timer.run(boundedErrorsInSteps(validateNew(object, strategy, definition.namespaced, strategyContext))),
  );
  if (timer.isDue()) await timer.yield();
  const errors = store.mergeDeclaredErrors(object, undefined, handwritten);
  if (timer.isDue()) await timer.yield();
  if (errors.length > 0) throw ApiError.invalid(definition, object.metadata.name ?? '', errors);
  request.warnings.push(...(strategy.warnings?.(object, undefined, strategyContext) ?? []));
  if (timer.isDue()) await timer.yield();
  const final = store.canonical(object);
  if (timer.isDue()) await timer.yield();
  await admission.validate(object, undefined, final);
  if (timer.isDue()) await timer.yield();
  const name = final.metadata.name!;
  const key = store.keyOf(final.metadata.namespace ?? '', name);
  const value = store.codec.encode(final, key);
  if (timer.isDue()) await timer.yield();
  if (request.dryRun) {
    if ((await store.storedCurrent(key, request)).encoded) throw ApiError.alreadyExists(store.groupResource, name);
    return { encoded: undefined, object: final, created: true };
  }
  const result = await store.commit(store.codec.put(key, value), noRevision, request, reservation);
  if ('newer' in result) {
    if (reservation && !result.newer.encoded) return undefined;
    throw ApiError.alreadyExists(store.groupResource, name);
  }
  return { encoded: store.codec.written(final, key, value, result.revision), object: final, created: true };
}

/** Returns the errors of a new object, without those of the rules that its type declares. */
export function* validateNew(
  object: KubeObject,
  strategy: Strategy,
  namespaced: boolean,
  context: StrategyContext,
): Steps<FieldError[]> {
  const errors = validateObjectMeta(object.metadata, namespaced, strategy);
  yield;
  const own = strategy.validateInSteps
    ? yield* strategy.validateInSteps(object, undefined, context)
    : (strategy.validateCreate?.(object, context) ?? []);
  return [...errors, ...own];
}

function fillSystemFields(object: KubeObject, now: string, uid: string, namespaced: boolean): void {
  const { metadata } = object;
  if (metadata.resourceVersion) {
    if (metadata.resourceVersion !== '0')
      throw ApiError.badRequest('resourceVersion should not be set on objects to be created');
    delete metadata.resourceVersion;
  }
  metadata.uid = uid;
  metadata.creationTimestamp = now;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  if (!namespaced) delete metadata.namespace;
}
