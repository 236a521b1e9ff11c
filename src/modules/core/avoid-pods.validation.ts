import { decodeJson } from '../../codec/json.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { asText, isSet, valueAt, type Fields } from '../../machinery/fields.js';

/**
 * Validates the preferAvoidPods annotation of a Node: JSON that names the controllers whose Pods the scheduler should not
 * place there. Current schedulers ignore it.
 */
export function validateAvoidedPods(text: string, annotation: string, at: FieldPath): FieldError[] {
  let value: unknown;
  try {
    value = decodeJson(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return [fieldError.invalid(at.child('AvoidPods'), annotation, problem)];
  }
  const listAt = at.child(annotation);
  return each(valueAt(value, ['preferAvoidPods']), listAt, (entry) => validateSignature(entry, listAt));
}

function validateSignature(entry: Fields, at: FieldPath): FieldError[] {
  const controller = valueAt(entry, ['podSignature', 'podController']);
  if (!isSet(controller)) return [fieldError.required(at.child('PodSignature'))];
  if (valueAt(controller, ['controller']) !== true) {
    const controllerAt = at.child('PodSignature', 'PodController', 'Controller');
    return [fieldError.invalid(controllerAt, false, 'must point to a controller')];
  }
  return required(asText(valueAt(controller, ['name'])), at.child('PodSignature', 'PodController', 'Name'));
}
