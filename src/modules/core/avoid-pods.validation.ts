import { decodeJson } from '../../codec/json.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { asFields, asText, isSet, type Fields } from '../../machinery/fields.js';

/** Which pods a node would rather not have, as JSON in an annotation that schedulers once read. */
export function validateAvoidedPods(text: string, annotation: string, at: FieldPath): FieldError[] {
  let given: unknown;
  try {
    given = decodeJson(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return [fieldError.invalid(String(at.child('AvoidPods')), annotation, problem)];
  }
  const listAt = at.child(annotation);
  return each(asFields(given)['preferAvoidPods'], listAt, (avoided) => validateSignature(avoided, listAt));
}

function validateSignature(avoided: Fields, at: FieldPath): FieldError[] {
  const { podController } = asFields(avoided['podSignature']);
  if (!isSet(podController)) return [fieldError.required(String(at.child('PodSignature')))];
  if (asFields(podController)['controller'] !== true) {
    const where = String(at.child('PodSignature', 'PodController', 'Controller'));
    return [fieldError.invalid(where, false, 'must point to a controller')];
  }
  return required(asText(asFields(podController)['name']), at.child('PodSignature', 'PodController', 'Name'));
}
