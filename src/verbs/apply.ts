import type { AdmissionChain } from '../admission/admission-chain.js';
import { ApiError } from '../machinery/api-error.js';
import type { JsonObject, JsonValue, KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import { toStorageVersion } from '../registry/served-version.js';
import { wrongObjectType } from '../patch/apply/apply-errors.js';
import type { Submission } from '../registry/submission.js';
import { objectTime } from '../registry/system-fields.js';
import { updateObject } from '../registry/update.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, checkUid, placeInNamespace } from './placement.js';
import { readAs } from './submitted.js';
import { answer } from './update.js';
import { requireValuesWithin } from './values-bound.js';
import { admissionFor, type RequireCreate, type Target, type VerbAnswer } from './verb.js';

/** Server-side apply: the object becomes what its appliers together want; it is created when it is not there. */
export async function apply(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  { value, fields }: Submission,
  force: boolean,
  requireCreate: RequireCreate,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const lens = subresource === '' ? undefined : viewSubresourceOf(target.served, subresource, 'patch');
  if (value === null) throw wrongObjectType({});
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw ApiError.badRequest('error decoding apply: the configuration is not an object');
  }
  const refusals = fields.refusals([], target.context.warnings);
  if (refusals.length > 0)
    throw ApiError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${refusals.join(', ')}`);
  const config = value as JsonObject;
  const applied = async (live: KubeObject | undefined): Promise<KubeObject> => {
    const timer = new YieldTimer(store.parts.clock);
    const steps = store.ownership.apply({
      definition,
      subresource,
      manager: target.context.fieldManager,
      time: objectTime(store.parts.clock.now()),
      live,
      config,
      force,
      check: (merged) => requireValuesWithin(merged, store.parts.limits.requestValuesMax),
    });
    const object = await timer.run(steps);
    checkName(object, target.name);
    placeInNamespace(object, target.namespace, definition.namespaced);
    if (live) checkUid(object, live, definition, target.name);
    requireValuesWithin(object as unknown as JsonValue, store.parts.limits.requestValuesMax);
    if (timer.isDue()) await timer.yield();
    const { managedFields } = object.metadata;
    // Who applies means the object as it is to be: that it was there once, in some version, does not matter.
    if (!live) delete object.metadata.resourceVersion;
    const read = readAs(target.served, object, lens?.viewKind).object;
    return lens?.viewKind ? withRecord(read, managedFields) : toStorageVersion(definition, read);
  };
  const written = await updateObject(
    store,
    target,
    applied,
    { subresource: lens, preconditions: target.preconditions, requiresResourceVersion: false, createsMissing: !lens },
    { request: target.context, admission: admissionFor(chain, target, 'UPDATE', subresource, requireCreate) },
  );
  return answer(definition, written, lens);
}

/** A view with the record of the whole object; one that is empty is there too, to be put in the place of the old one. */
function withRecord(view: KubeObject, managedFields: ObjectMeta['managedFields']): KubeObject {
  const metadata = { ...view.metadata, managedFields } as ObjectMeta;
  return { ...view, metadata };
}
