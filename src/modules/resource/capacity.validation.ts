import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { asFields, isSet, type Fields } from '../../machinery/fields.js';
import { addResources, amountRatio, compareAmounts } from '../core/pod/pod-resources.js';

const valuesMax = 10;

/** How much of a capacity one claim can have of a device that many share. */
export function validateRequestPolicy(capacity: Fields, at: FieldPath, isShared: boolean): FieldError[] {
  if (!isSet(capacity['requestPolicy'])) return [];
  const policy = asFields(capacity['requestPolicy']);
  const { default: fallback, validValues, validRange } = policy;
  const policyAt = at.child('requestPolicy');
  const values = Array.isArray(validValues) ? (validValues as unknown[]) : [];
  const range = asFields(validRange);
  const errors: FieldError[] = [];
  if (!isShared) errors.push(fieldError.forbidden(String(policyAt), 'allowMultipleAllocations must be true'));
  const refuse = (field: string, value: unknown, message: string) =>
    errors.push(fieldError.invalid(String(policyAt.child(field)), value, message));
  if (isSet(fallback) && compareAmounts(fallback, capacity['value']) > 0) {
    refuse('default', fallback, 'must be less than or equal to the capacity value');
  }
  if (values.length > 0 && isSet(validRange)) {
    const message =
      'exactly one policy can be specified, cannot specify `validValues` and `validRange` at the same time';
    errors.push(fieldError.forbidden(String(policyAt), message));
  }
  if ((values.length > 0 || isSet(validRange)) && !isSet(fallback)) {
    errors.push(fieldError.required(String(policyAt.child('default'))));
  }
  if (values.length > valuesMax) {
    errors.push(fieldError.tooMany(String(policyAt.child('validValues')), values.length, valuesMax));
  }
  values.forEach((value, index) => {
    const valueAt = String(policyAt.child('validValues').index(index));
    if (index > 0 && compareAmounts(value, values[index - 1]) <= 0) {
      errors.push(fieldError.invalid(valueAt, value, 'values must be sorted in ascending order'));
    }
    if (compareAmounts(value, capacity['value']) > 0) {
      errors.push(fieldError.invalid(valueAt, value, 'must be less than or equal to the capacity value'));
    }
  });
  if (values.length > 0 && isSet(fallback) && !values.some((value) => compareAmounts(value, fallback) === 0)) {
    refuse('default', fallback, 'must be one of `validValues`');
  }
  if (isSet(validRange)) errors.push(...validateRange(range, { capacity, fallback, at: policyAt }));
  return errors;
}

function validateRange(
  range: Fields,
  { capacity, fallback, at }: { readonly capacity: Fields; readonly fallback: unknown; readonly at: FieldPath },
): FieldError[] {
  const { min, max, step } = range;
  const rangeAt = at.child('validRange');
  const errors: FieldError[] = [];
  const refuse = (field: string, value: unknown, message: string) =>
    errors.push(fieldError.invalid(String(rangeAt.child(field)), value, message));
  if (!isSet(min)) errors.push(fieldError.required(String(rangeAt.child('min'))));
  for (const field of ['min', 'max']) {
    if (isSet(range[field]) && compareAmounts(range[field], capacity['value']) > 0) {
      refuse(field, range[field], 'must be less than or equal to the capacity value');
    }
  }
  if (isSet(step)) {
    const message = 'must be a multiple of `step`';
    const isMultiple = (amount: unknown) => Number.isInteger(amountRatio(amount, step));
    if (isSet(max) && !isMultiple(max)) refuse('max', max, message);
    if (isSet(fallback) && !isMultiple(fallback)) {
      errors.push(fieldError.invalid(String(at.child('default')), fallback, message));
    }
    if (compareAmounts(addResources({ sum: min }, { sum: step })['sum'], capacity['value']) > 0) {
      refuse('step', step, 'one step above `min` must be less than or equal to the capacity value');
    }
  }
  if (isSet(min) && isSet(max) && compareAmounts(min, max) > 0) {
    refuse('min', min, 'must be less than or equal to `max`');
  }
  if (isSet(min) && isSet(fallback) && compareAmounts(fallback, min) < 0) {
    errors.push(fieldError.invalid(String(at.child('default')), fallback, 'must be greater than or equal to `min`'));
  }
  if (isSet(max) && isSet(fallback) && compareAmounts(fallback, max) > 0) {
    errors.push(fieldError.invalid(String(at.child('default')), fallback, 'must be less than or equal to `max`'));
  }
  return errors;
}
