import type { AdmissionChain } from '../admission/admission-chain.js';
import { ApiError } from '../machinery/api-error.js';
import type { JsonObject, JsonValue, KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import { toStorageVersion } from '../registry/definition/served-version.js';
import { wrongObjectType } from '../patch/apply/apply-errors.js';
import type { Submission } from '../registry/write/submission.js';
import { objectTime } from '../registry/write/system-fields.js';
import { updateObject } from '../registry/write/update.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, checkUid, ensureNamespace } from './object-identity.js';
import { readAs } from './submitted.js';
import { requireValuesWithin } from './values-bound.js';
import { admissionFor, answerOf, type RequireCreate, type Target, type VerbAnswer } from './verb.js';

/** Server-side apply: merges the configuration into the object, or creates it if it does not exist. */
export async function apply(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  { value, fields }: Submission,
  force: boolean,
  requireCreate: RequireCreate,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const viewSubresource = viewSubresourceOf(target.served, subresource, 'patch');
  if (value === null) throw wrongObjectType({});
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw ApiError.badRequest('error decoding apply: the configuration is not an object');
  }
  const refusals = fields.refusals([], target.context.warnings);
  if (refusals.length > 0)
    throw ApiError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${refusals.join(', ')}`);
  const config = value as JsonObject;
  const applyTo = async (live: KubeObject | undefined): Promise<KubeObject> => {
    const timer = new YieldTimer(store.dependencies.clock);
    const steps = store.ownership.apply({
      definition,
      subresource,
      manager: target.context.fieldManager,
      time: objectTime(store.dependencies.clock.now()),
      live,
      config,
      force,
      check: (merged) => requireValuesWithin(merged, store.dependencies.limits.requestValuesMax),
    });
    const object = await timer.run(steps);
    checkName(object, target.name);
    ensureNamespace(object, target.namespace, definition.namespaced);
    if (live) checkUid(object, live, definition, target.name);
    requireValuesWithin(object as unknown as JsonValue, store.dependencies.limits.requestValuesMax);
    if (timer.isDue()) await timer.yield();
    const { managedFields } = object.metadata;
    // Apply states the desired object, so a resourceVersion of a deleted predecessor is ignored on create.
    if (!live) delete object.metadata.resourceVersion;
    const read = readAs(target.served, object, viewSubresource?.viewKind).object;
    return viewSubresource?.viewKind ? withManagedFields(read, managedFields) : toStorageVersion(definition, read);
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
    },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource, requireCreate),
      managedFields: { mode: 'supplied', definition },
    },
  );
  return answerOf(definition, written, written.created ? 201 : 200, viewSubresource);
}

/** Adds managedFields of the whole object to a view. Empty managedFields are kept, to replace the old ones. */
function withManagedFields(view: KubeObject, managedFields: ObjectMeta['managedFields']): KubeObject {
  const metadata = { ...view.metadata, managedFields } as ObjectMeta;
  return { ...view, metadata };
}
