import type { CapacityRequestPolicyRange, DeviceCapacity } from '../../catalog/types/resource.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isSet } from '../../machinery/fields.js';
import { addResources, amountRatio, compareAmounts, type Amount } from '../core/pod/pod-resources.js';

const valuesMax = 10;

/** Validates the amounts of a capacity that a request may consume of a shared device. */
export function validateRequestPolicy(capacity: DeviceCapacity, at: FieldPath, isShared: boolean): FieldError[] {
  if (!capacity.requestPolicy) return [];
  const { default: defaultAmount, validValues: values = [], validRange } = capacity.requestPolicy;
  const policyAt = at.child('requestPolicy');
  const errors: FieldError[] = [];
  if (!isShared) errors.push(fieldError.forbidden(policyAt, 'allowMultipleAllocations must be true'));
  const refuse = (field: string, value: unknown, message: string) =>
    errors.push(fieldError.invalid(policyAt.child(field), value, message));
  if (isSet(defaultAmount) && compareAmounts(defaultAmount, capacity.value) > 0) {
    refuse('default', defaultAmount, 'must be less than or equal to the capacity value');
  }
  if (values.length > 0 && validRange) {
    const message =
      'exactly one policy can be specified, cannot specify `validValues` and `validRange` at the same time';
    errors.push(fieldError.forbidden(policyAt, message));
  }
  if ((values.length > 0 || validRange) && !isSet(defaultAmount)) {
    errors.push(fieldError.required(policyAt.child('default')));
  }
  if (values.length > valuesMax) {
    errors.push(fieldError.tooMany(policyAt.child('validValues'), values.length, valuesMax));
  }
  values.forEach((value, index) => {
    const valueAt = policyAt.child('validValues').index(index);
    if (index > 0 && compareAmounts(value, values[index - 1]) <= 0) {
      errors.push(fieldError.invalid(valueAt, value, 'values must be sorted in ascending order'));
    }
    if (compareAmounts(value, capacity.value) > 0) {
      errors.push(fieldError.invalid(valueAt, value, 'must be less than or equal to the capacity value'));
    }
  });
  if (
    values.length > 0 &&
    isSet(defaultAmount) &&
    !values.some((value) => compareAmounts(value, defaultAmount) === 0)
  ) {
    refuse('default', defaultAmount, 'must be one of `validValues`');
  }
  if (validRange) errors.push(...validateRange(validRange, { capacity, defaultAmount, at: policyAt }));
  return errors;
}

interface RangeContext {
  readonly capacity: DeviceCapacity;
  readonly defaultAmount: string | null | undefined;
  readonly at: FieldPath;
}

function validateRange(range: CapacityRequestPolicyRange, { capacity, defaultAmount, at }: RangeContext): FieldError[] {
  const { min, max, step } = range;
  const rangeAt = at.child('validRange');
  const errors: FieldError[] = [];
  const refuse = (field: string, value: unknown, message: string) =>
    errors.push(fieldError.invalid(rangeAt.child(field), value, message));
  if (!isSet(min)) errors.push(fieldError.required(rangeAt.child('min')));
  for (const field of ['min', 'max'] as const) {
    if (isSet(range[field]) && compareAmounts(range[field], capacity.value) > 0) {
      refuse(field, range[field], 'must be less than or equal to the capacity value');
    }
  }
  if (isSet(step)) {
    const message = 'must be a multiple of `step`';
    const isMultiple = (amount: Amount) => Number.isInteger(amountRatio(amount, step));
    if (isSet(max) && !isMultiple(max)) refuse('max', max, message);
    if (isSet(defaultAmount) && !isMultiple(defaultAmount)) {
      errors.push(fieldError.invalid(at.child('default'), defaultAmount, message));
    }
    if (compareAmounts(addResources({ sum: min }, { sum: step }).sum, capacity.value) > 0) {
      refuse('step', step, 'one step above `min` must be less than or equal to the capacity value');
    }
  }
  if (isSet(min) && isSet(max) && compareAmounts(min, max) > 0) {
    refuse('min', min, 'must be less than or equal to `max`');
  }
  if (isSet(min) && isSet(defaultAmount) && compareAmounts(defaultAmount, min) < 0) {
    errors.push(fieldError.invalid(at.child('default'), defaultAmount, 'must be greater than or equal to `min`'));
  }
  if (isSet(max) && isSet(defaultAmount) && compareAmounts(defaultAmount, max) > 0) {
    errors.push(fieldError.invalid(at.child('default'), defaultAmount, 'must be less than or equal to `max`'));
  }
  return errors;
}
