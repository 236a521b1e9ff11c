import { cannotBeHandled, strictDecodingProblem } from '../codec/request-object.js';
import type { GroupVersionKind } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { StructType, TypeSource } from '../machinery/type-model.js';
import type { RequestContext } from '../registry/request-context.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { valueFor, type Submission } from '../registry/write/submission.js';
import type { SubmittedObject } from '../registry/definition/custom-type.js';
import { submittedObject } from '../registry/write/submitted-object.js';

/** Reads a request body as an object of the resource, or of the kind of a subresource's view. */
export function submittedTo(
  served: ServedResource,
  submission: Submission,
  context: RequestContext,
  viewKind?: GroupVersionKind,
): KubeObject {
  const value = valueFor(submission, structOf(served, viewKind));
  return enforceStrict(viewKind ?? served.definition, readAs(served, value, viewKind), submission.fields, context);
}

/** Reads a request body as an object of a kind that is not stored. */
export function submittedAs(
  gvk: GroupVersionKind,
  types: TypeSource,
  submission: Submission,
  context: RequestContext,
): KubeObject {
  const type = types.kind(gvk.group, gvk.version, gvk.kind);
  return enforceStrict(gvk, submittedObject(valueFor(submission, type), gvk, { type }), submission.fields, context);
}

export function readAs(served: ServedResource, value: unknown, viewKind?: GroupVersionKind): SubmittedObject {
  const type = structOf(served, viewKind);
  return submittedObject(value, viewKind ?? served.definition, {
    type,
    keepsNulls: viewKind === undefined && served.definition.itemsCarryType,
    customType: viewKind ? undefined : served.definition.customType,
  });
}

export function structOf({ struct, store }: ServedResource, viewKind?: GroupVersionKind): StructType | undefined {
  return viewKind ? store.dependencies.types.kind(viewKind.group, viewKind.version, viewKind.kind) : struct;
}

function enforceStrict(
  gvk: GroupVersionKind,
  { object, unknownFields }: SubmittedObject,
  fields: Submission['fields'],
  context: RequestContext,
): KubeObject {
  const refusals = fields.refusals(unknownFields, context.warnings);
  if (refusals.length === 0) return object;
  throw cannotBeHandled(gvk, gvk.kind, strictDecodingProblem(refusals));
}
