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
import type { ViewSubresource } from '../registry/resource-definition.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { toServedVersion, toStorageVersion } from '../registry/served-version.js';
import type { FieldReport, Submission } from '../registry/submission.js';
import { updateObject } from '../registry/update.js';
import { ConformError } from '../schema/conform-error.js';
import { assert } from '../std/assert.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, checkUid, placeInNamespace } from './placement.js';
import { answer } from './update.js';
import { requireValuesWithin } from './values-bound.js';
import { readAs, structOf } from './submitted.js';
import { admissionFor, type Target, type VerbAnswer } from './verb.js';

export type PatchType = 'json' | 'merge' | 'strategic';

export const applyInCbor = 'application/apply-patch+cbor';

/** Media type → how the body changes the object. Another way to patch is another line. */
export const patchTypes: Readonly<Record<string, PatchType | 'apply'>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  [applyInCbor]: 'apply',
};

/**
 * What can be done to objects of the resource: strategic merge needs types that say how lists are merged, CBOR a server
 * that reads it.
 */
export function patchTypesOf({ struct }: ServedResource, readsCbor: boolean): string[] {
  return Object.keys(patchTypes).filter(
    (name) => (struct || patchTypes[name] !== 'strategic') && (readsCbor || name !== applyInCbor),
  );
}

/** PATCH: the change is the pure function that the patch describes, made again on what a faster writer left. */
export async function patch(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  type: PatchType,
  { value: body, fields }: Submission,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const lens = subresource === '' ? undefined : viewSubresourceOf(target.served, subresource, 'patch');
  if (type !== 'json' && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw ApiError.badRequest(body === null ? 'Invalid JSON Patch' : notAnObject(type, body));
  }
  const written = await updateObject(
    store,
    target,
    (current) => changed(current!, lens, type, body, fields, target),
    { subresource: lens, preconditions: target.preconditions, requiresResourceVersion: false, createsMissing: false },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource),
      through: { definition, subresource },
    },
  );
  return answer(definition, written, lens);
}

function notAnObject(type: PatchType, body: unknown): string {
  const problem = `json: cannot unmarshal ${goTypeOf(body)} into Go value of type map[string]interface {}`;
  return type === 'strategic' ? problem : `error decoding patch: ${problem}`;
}

async function changed(
  current: KubeObject,
  lens: ViewSubresource | undefined,
  type: PatchType,
  body: unknown,
  fields: FieldReport,
  target: Target,
): Promise<KubeObject> {
  const { definition, store } = target.served;
  const timer = new YieldTimer(store.parts.clock);
  const view = lens ? lens.view(current) : current;
  const before = (lens?.viewKind ? view : toServedVersion(definition, view)) as unknown as JsonValue;
  const after = await timer.run(patched(before, type, body, lens, target));
  if (timer.isDue()) await timer.yield();
  requireValuesWithin(after, store.parts.limits.requestValuesMax);
  if (timer.isDue()) await timer.yield();
  const object = patchedObject(after, fields, lens, target, () => shown(type, body, after, lens, target));
  checkName(object, target.name);
  placeInNamespace(object, target.namespace, definition.namespaced);
  checkUid(object, current, definition, target.name);
  if (timer.isDue()) await timer.yield();
  return lens?.viewKind ? object : toStorageVersion(definition, object);
}

function* patched(
  before: JsonValue,
  type: PatchType,
  body: unknown,
  lens: ViewSubresource | undefined,
  { served }: Target,
): Steps<JsonValue> {
  if (type === 'json') return yield* jsonPatchInSteps(before, body, served.store.parts.limits.jsonPatchOperationsMax);
  if (type === 'merge') return mergePatch(before, body as JsonValue);
  const struct = structOf(served, lens?.viewKind);
  assert(struct, 'strategic merge needs a type');
  return strategicMergePatch(before as JsonObject, body as JsonValue, struct);
}

/** What a refusal quotes. */
function shown(
  type: PatchType,
  body: unknown,
  after: JsonValue,
  lens: ViewSubresource | undefined,
  { served }: Target,
): string {
  if (type === 'strategic') return goPrint(body);
  const touched = type === 'json' ? touchedByOperations(body as JsonObject[]) : touchedByMerge(body as JsonValue);
  return encodeJson(inRefusedOrder(after, structOf(served, lens?.viewKind), touched)).toString();
}

/** What a patch makes of an object may be anything: what cannot be one is the patch's fault. */
function patchedObject(
  value: JsonValue,
  fields: FieldReport,
  lens: ViewSubresource | undefined,
  { served, context }: Target,
  shown: () => string,
): KubeObject {
  try {
    const { object, unknownFields } = readAs(served, value, lens?.viewKind);
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
