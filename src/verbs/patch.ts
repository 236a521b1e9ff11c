import type { AdmissionChain } from '../admission/admission-chain.js';
import { encodeJson } from '../codec/json.js';
import { goTypeOf, strictDecodingProblem } from '../codec/request-object.js';
import { ApiError } from '../machinery/api-error.js';
import { fieldError, goQuote } from '../machinery/field-error.js';
import type { JsonObject, JsonValue, KubeObject } from '../machinery/kube-object.js';
import { goPrint } from '../patch/go-print.js';
import { jsonPatchInSteps } from '../patch/json-patch.js';
import { mergePatch } from '../patch/merge-patch.js';
import { inRefusedOrder, touchedByMerge, touchedByOperations } from '../patch/refused-order.js';
import { strategicMergePatch } from '../patch/strategic-merge.js';
import type { ViewSubresource } from '../registry/definition/resource-definition.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { toServedVersion, toStorageVersion } from '../registry/definition/served-version.js';
import type { FieldReport, Submission } from '../registry/write/submission.js';
import { updateObject } from '../registry/write/update.js';
import { ConformError } from '../typed/conform-error.js';
import { assert } from '../std/assert.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, checkUid, ensureNamespace } from './object-identity.js';
import { requireValuesWithin } from './values-bound.js';
import { readAs, structOf } from './submitted.js';
import { admissionFor, answerOf, type Target, type VerbAnswer } from './verb.js';

export type PatchType = 'json' | 'merge' | 'strategic';

export const applyInCbor = 'application/apply-patch+cbor';

/** Maps media types to patch types. */
export const patchTypes: Readonly<Record<string, PatchType | 'apply'>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  [applyInCbor]: 'apply',
};

/**
 * True if the resource can be patched by a media type of patchTypes. Strategic merge needs a built-in type, which says how
 * lists are merged; CBOR needs its feature gate.
 */
export function supportsPatch(mediaType: string, { struct }: ServedResource, readsCbor: () => boolean): boolean {
  if (patchTypes[mediaType] === 'strategic') return struct !== undefined;
  return mediaType !== applyInCbor || readsCbor();
}

/** Implements PATCH. The patch is applied again after a conflict. */
export async function patch(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  type: PatchType,
  { value: body, fields }: Submission,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const viewSubresource = viewSubresourceOf(target.served, subresource, 'patch');
  if (type !== 'json' && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw ApiError.badRequest(body === null ? 'Invalid JSON Patch' : notAnObject(type, body));
  }
  const written = await updateObject(
    store,
    target,
    (current) => changed(current!, viewSubresource, type, body, fields, target),
    {
      subresource: viewSubresource,
      preconditions: target.preconditions,
      requiresResourceVersion: false,
      createsMissing: false,
    },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource),
      managedFields: { mode: 'track', definition, subresource },
    },
  );
  return answerOf(definition, written, 200, viewSubresource);
}

function notAnObject(type: PatchType, body: unknown): string {
  const problem = `json: cannot unmarshal ${goTypeOf(body)} into Go value of type map[string]interface {}`;
  return type === 'strategic' ? problem : `error decoding patch: ${problem}`;
}

async function changed(
  current: KubeObject,
  viewSubresource: ViewSubresource | undefined,
  type: PatchType,
  body: unknown,
  fields: FieldReport,
  target: Target,
): Promise<KubeObject> {
  const { definition, store } = target.served;
  const timer = new YieldTimer(store.dependencies.clock);
  const view = viewSubresource ? viewSubresource.view(current) : current;
  const before = (viewSubresource?.viewKind ? view : toServedVersion(definition, view)) as unknown as JsonValue;
  const after = await timer.run(patched(before, type, body, viewSubresource, target));
  if (timer.isDue()) await timer.yield();
  requireValuesWithin(after, store.dependencies.limits.requestValuesMax);
  if (timer.isDue()) await timer.yield();
  const object = patchedObject(after, fields, viewSubresource, target, () =>
    shown(type, body, after, viewSubresource, target),
  );
  checkName(object, target.name);
  ensureNamespace(object, target.namespace, definition.namespaced);
  checkUid(object, current, definition, target.name);
  if (timer.isDue()) await timer.yield();
  return viewSubresource?.viewKind ? object : toStorageVersion(definition, object);
}

function* patched(
  before: JsonValue,
  type: PatchType,
  body: unknown,
  viewSubresource: ViewSubresource | undefined,
  { served }: Target,
): Steps<JsonValue> {
  if (type === 'json')
    return yield* jsonPatchInSteps(before, body, served.store.dependencies.limits.jsonPatchOperationsMax);
  if (type === 'merge') return mergePatch(before, body as JsonValue);
  const struct = structOf(served, viewSubresource?.viewKind);
  assert(struct, 'strategic merge needs a type');
  return strategicMergePatch(before as JsonObject, body as JsonValue, struct);
}

/** Returns the value that the error message quotes, as kube-apiserver does. */
function shown(
  type: PatchType,
  body: unknown,
  after: JsonValue,
  viewSubresource: ViewSubresource | undefined,
  { served }: Target,
): string {
  if (type === 'strategic') return goPrint(body);
  const touched = type === 'json' ? touchedByOperations(body as JsonObject[]) : touchedByMerge(body as JsonValue);
  return encodeJson(inRefusedOrder(after, structOf(served, viewSubresource?.viewKind), touched)).toString();
}

/** Reads the patched value as an object. A value that is not an object of the kind is an error of the patch (422). */
function patchedObject(
  value: JsonValue,
  fields: FieldReport,
  viewSubresource: ViewSubresource | undefined,
  { served, context }: Target,
  shown: () => string,
): KubeObject {
  try {
    const { object, unknownFields } = readAs(served, value, viewSubresource?.viewKind);
    const refusals = fields.refusals(unknownFields, context.warnings);
    if (refusals.length > 0) throw patchRefused(shown(), strictDecodingProblem(refusals));
    return object;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason === 'Invalid') throw error;
    throw patchRefused(shown(), error.cause instanceof ConformError ? error.cause.message : error.message);
  }
}

function patchRefused(value: string, problem: string): ApiError {
  const { detail } = fieldError.invalid('patch', value, problem);
  return new ApiError({
    reason: 'Invalid',
    message: ` ${goQuote('')} is invalid: patch: ${detail}`,
    details: { causes: [{ reason: 'FieldValueInvalid', message: detail, field: 'patch' }] },
  });
}
