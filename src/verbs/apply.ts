import type { AdmissionChain } from '../admission/admission-chain.js';
import type { UnchangedUpdate } from '../admission/admission-plugin.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import { ApiError } from '../machinery/api-error.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { asJson, type JsonObject, type JsonValue, type KubeObject, type ObjectMeta } from '../machinery/kube-object.js';
import { toStorageVersion } from '../registry/definition/served-version.js';
import { isCustom } from '../registry/resource-registry.js';
import { wrongObjectType } from '../patch/apply/apply-errors.js';
import { withoutIdleTimes } from '../patch/apply/idle-times.js';
import { copyObject } from '../patch/copy-json.js';
import { recheckUnwritten } from '../registry/write/recheck-unwritten.js';
import type { Submission } from '../registry/write/submission.js';
import { objectTime } from '../registry/write/system-fields.js';
import type { ApplyRequest } from '../registry/write/unchanged-applies.js';
import { updateObject } from '../registry/write/update.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, checkUid, ensureNamespace } from './object-identity.js';
import { readAs } from './submitted.js';
import { requireValuesWithin } from './values-bound.js';
import { admissionFor, answerOf, type RequireCreate, type Target, type VerbAnswer } from './verb.js';

/** The body of an apply. */
interface Configuration {
  /** Called once, or not at all if it is known that the configuration changes nothing. */
  readonly decode: () => Submission | Promise<Submission>;
  /** The bytes and how they are decoded; absent if every request must be decoded. */
  readonly sent?: Pick<ApplyRequest, 'body' | 'mediaType' | 'fieldValidation'> | undefined;
}

/** Server-side apply: merges the configuration into the object, or creates it if it does not exist. */
export async function apply(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  { decode, sent }: Configuration,
  force: boolean,
  requireCreate: RequireCreate,
): Promise<VerbAnswer> {
  const { served, context } = target;
  const { definition, store } = served;
  const viewSubresource = viewSubresourceOf(served, subresource, 'patch');
  const { fieldManager: manager } = context;
  // A Scale is merged as a Scale, not as the stored object. A conversion webhook may answer differently each time.
  const mayRemember = !viewSubresource?.viewKind && !definition.hub?.fromHubAhead;
  const request = mayRemember && sent ? requestOf(sent, definition.version, subresource, manager, force) : undefined;
  const cached = request ? store.cache.get(store.keyOf(target.namespace, target.name)) : undefined;
  const skipped = request && cached && store.unchangedApplies.find(cached, request);
  const update = unchangedUpdate(target, subresource);
  // Explanations and traces show every step. The hooks of kinds of an embedding program may decide by user or time.
  const showsSteps = context.trace !== undefined || context.steps?.trace !== undefined;
  const hasOwnHooks = !served.struct && !isCustom(served);
  const isIgnored = () => !showsSteps && !hasOwnHooks && chain.ignoresUnchanged(update);
  if (cached && skipped === 'write' && !target.preconditions && isIgnored() && (await isAsStored(target, cached))) {
    chain.countIgnored(update);
    return { type: 'stored', code: 200, encoded: cached };
  }
  const unchanged = skipped && cached;
  let config = unchanged ? undefined : configOf(await decode(), context.warnings);
  const hasWarned = context.warnings.length > 0;
  let merged: EncodedObject | undefined;
  let isUnchanged = false;
  const applyTo = async (live: KubeObject | undefined, encoded: EncodedObject | undefined): Promise<KubeObject> => {
    isUnchanged = false;
    if (live && encoded && encoded === unchanged) return copyObject(live);
    merged = encoded;
    config ??= configOf(await decode(), context.warnings);
    return mergeInto(live, config, target, subresource, force);
  };
  const compare = (object: KubeObject, live: KubeObject) => {
    // Large objects are not compared and copied at once.
    isUnchanged = merged?.isLarge === false && deepEqual(withoutIdleTimes(asJson(live), asJson(object)), live);
  };
  const written = await updateObject(
    store,
    target,
    applyTo,
    {
      subresource: viewSubresource,
      preconditions: target.preconditions,
      requiresResourceVersion: false,
      createsMissing: !viewSubresource,
      beforeAdmission: request && !unchanged && !hasWarned ? compare : undefined,
    },
    {
      request: context,
      admission: admissionFor(chain, target, 'UPDATE', subresource, requireCreate),
      managedFields: { mode: 'supplied', definition },
    },
  );
  const left = unchanged ?? (isUnchanged ? merged : undefined);
  if (request && left && written.encoded === left) {
    store.unchangedApplies.remember(left, request, context.warnings.length === 0 && isIgnored() ? 'write' : 'merge');
  }
  return answerOf(definition, written, written.created ? 201 : 200, viewSubresource);
}

/** Names the properties of `sent`, since V8 adds others to a spread object in a slow way. */
function requestOf(
  { body, mediaType, fieldValidation }: NonNullable<Configuration['sent']>,
  version: string,
  subresource: string,
  manager: string,
  force: boolean,
): ApplyRequest {
  return { body, mediaType, fieldValidation, version, subresource, manager, force };
}

function unchangedUpdate({ served, namespace, context }: Target, subresource: string): UnchangedUpdate {
  const { definition, store } = served;
  const { namespaced } = definition;
  const operation = 'UPDATE';
  return { operation, resource: store.groupResource, served, subresource, namespaced, namespace, request: context };
}

/** True if the cached object is the stored one, and need not be stored again with another key of encryption. */
async function isAsStored({ served: { store }, context }: Target, encoded: EncodedObject): Promise<boolean> {
  const current = { encoded, revision: encoded.revision, cached: true };
  const { newer, isStale } = await recheckUnwritten(store, encoded.key, current, context);
  return !newer && !isStale;
}

function configOf({ value, fields }: Submission, warnings: string[]): JsonObject {
  if (value === null) throw wrongObjectType({});
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw ApiError.badRequest('error decoding apply: the configuration is not an object');
  }
  const refusals = fields.refusals([], warnings);
  if (refusals.length > 0)
    throw ApiError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${refusals.join(', ')}`);
  return value as JsonObject;
}

/** Returns the object with the configuration in it, or its view through the subresource. */
async function mergeInto(
  live: KubeObject | undefined,
  config: JsonObject,
  { served, namespace, name, context }: Target,
  subresource: string,
  force: boolean,
): Promise<KubeObject> {
  const { definition, store } = served;
  const { clock, limits } = store.dependencies;
  const viewKind = viewSubresourceOf(served, subresource, 'patch')?.viewKind;
  const timer = new YieldTimer(clock);
  const steps = store.ownership.apply({
    definition,
    subresource,
    manager: context.fieldManager,
    time: objectTime(clock.now()),
    live,
    config,
    force,
    check: (merged) => requireValuesWithin(merged, limits.requestValuesMax),
  });
  const object = await timer.run(steps);
  checkName(object, name);
  ensureNamespace(object, namespace, definition.namespaced);
  if (live) checkUid(object, live, definition, name);
  requireValuesWithin(object as unknown as JsonValue, limits.requestValuesMax);
  if (timer.isDue()) await timer.yield();
  const { managedFields } = object.metadata;
  // Apply states the desired object, so a resourceVersion of a deleted predecessor is ignored on create.
  if (!live) delete object.metadata.resourceVersion;
  const read = readAs(served, object, viewKind).object;
  return viewKind ? withManagedFields(read, managedFields) : toStorageVersion(definition, read);
}

/** Adds managedFields of the whole object to a view. Empty managedFields are kept, to replace the old ones. */
function withManagedFields(view: KubeObject, managedFields: ObjectMeta['managedFields']): KubeObject {
  const metadata = { ...view.metadata, managedFields } as ObjectMeta;
  return { ...view, metadata };
}
