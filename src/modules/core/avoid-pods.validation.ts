import type { AvoidPods, PreferAvoidPodsEntry } from '../../catalog/types/core.v1.js';
import { decodeJson } from '../../codec/json.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { asFields, asText } from '../../machinery/fields.js';

/**
 * Validates the preferAvoidPods annotation of a Node: JSON that names the controllers whose Pods the scheduler should not
 * place there. Current schedulers ignore it.
 */
export function validateAvoidedPods(text: string, annotation: string, at: FieldPath): FieldError[] {
  let avoided: AvoidPods;
  try {
    avoided = asFields(decodeJson(text));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return [fieldError.invalid(at.child('AvoidPods'), annotation, problem)];
  }
  const listAt = at.child(annotation);
  return each(avoided.preferAvoidPods, listAt, (entry) => validateSignature(entry, listAt));
}

/** Mistyped values count as absent: conform() does not see annotations. */
function validateSignature({ podSignature }: PreferAvoidPodsEntry, at: FieldPath): FieldError[] {
  const controller = podSignature?.podController;
  if (controller === undefined || controller === null) return [fieldError.required(at.child('PodSignature'))];
  if (controller.controller !== true) {
    const controllerAt = at.child('PodSignature', 'PodController', 'Controller');
    return [fieldError.invalid(controllerAt, false, 'must point to a controller')];
  }
  return required(asText(controller.name), at.child('PodSignature', 'PodController', 'Name'));
}
