import type { CapacityRequestPolicyRange, DeviceCapacity } from '../../catalog/types/resource.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates } from '../../machinery/field-rules.js';
import { addResources, compareAmounts, wholeUnits, type Amount } from '../core/pod/pod-resources.js';

const valuesMax = 10;

/** Validates the amounts of a capacity that a request may consume of a shared device. */
export function validateRequestPolicy(
  { requestPolicy: policy, value: capacity }: DeviceCapacity,
  at: FieldPath,
  isShared: boolean,
): FieldError[] {
  if (!policy) return [];
  const policyAt = at.child('requestPolicy');
  if (!isShared) return [fieldError.forbidden(policyAt, 'allowMultipleAllocations must be true')];
  const { default: defaultAmount, validValues: values = [], validRange: range } = policy;
  if (values.length > 0 && range) {
    const message =
      'exactly one policy can be specified, cannot specify `validValues` and `validRange` at the same time';
    return [fieldError.forbidden(policyAt, message)];
  }
  if (values.length === 0 && !range) return [];
  if (!defaultAmount) return [fieldError.required(policyAt.child('default'))];
  const context = { capacity, defaultAmount };
  return range
    ? validateRange(range, context, policyAt.child('validRange'))
    : validateValues(values, context, policyAt.child('validValues'));
}

interface Context {
  readonly capacity: Amount;
  readonly defaultAmount: string;
}

const overCapacity = 'must be less than or equal to the capacity value';

function validateValues(values: readonly string[], { capacity, defaultAmount }: Context, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (values.length > valuesMax) errors.push(fieldError.tooMany(at, values.length, valuesMax));
  const checked = values.slice(0, valuesMax);
  checked.forEach((value, index) => {
    const valueAt = at.index(index);
    if (index > 0 && compareAmounts(value, checked[index - 1]) < 0) {
      errors.push(fieldError.invalid(valueAt, value, 'values must be sorted in ascending order'));
    }
    if (compareAmounts(value, capacity) > 0) errors.push(fieldError.invalid(valueAt, value, overCapacity));
  });
  errors.push(
    ...duplicates(
      checked,
      (value) => String(wholeUnits(value)),
      (index) => at.index(index),
    ),
  );
  if (!checked.some((value) => compareAmounts(value, defaultAmount) === 0)) {
    errors.push(fieldError.invalid(at, defaultAmount, '`default` must be one of `validValues`'));
  }
  return errors;
}

/** Errors of `default` have the path of the bound that it breaks, as in kube-apiserver. */
function validateRange(
  { min, max, step }: CapacityRequestPolicyRange,
  { capacity, defaultAmount }: Context,
  at: FieldPath,
): FieldError[] {
  if (!min) return [fieldError.required(at.child('min'))];
  const errors: FieldError[] = [];
  const check = (isGood: boolean, field: 'min' | 'max' | 'step', value: Amount, message: string) => {
    if (!isGood) errors.push(fieldError.invalid(at.child(field), value, message));
  };
  const isAtMost = (low: Amount, high: Amount) => compareAmounts(low, high) <= 0;
  check(isAtMost(min, capacity), 'min', min, overCapacity);
  check(isAtMost(min, defaultAmount), 'min', defaultAmount, '`default` must be greater than or equal to `min`');
  if (max) {
    check(isAtMost(min, max), 'max', min, '`min` must be less than or equal to `max`');
    check(isAtMost(max, capacity), 'max', max, overCapacity);
    check(isAtMost(defaultAmount, max), 'max', defaultAmount, '`default` must be less than or equal to `max`');
  }
  if (step) {
    const next = addResources({ sum: min }, { sum: step }).sum;
    check(
      isAtMost(next, capacity),
      'step',
      step,
      'one step above `min` must be less than or equal to the capacity value',
    );
    const message = `must be \`min\` (${min}) plus a multiple of \`step\` (${step})`;
    check(isOnStep(defaultAmount, min, step), 'step', defaultAmount, message);
    if (max) check(isOnStep(max, min, step), 'step', max, message);
  }
  return errors;
}

/** True if the amount is `min` plus a multiple of `step`, all rounded up to integers. False for a step of zero. */
function isOnStep(amount: Amount, min: Amount, step: Amount): boolean {
  const size = wholeUnits(step);
  return size !== 0n && (wholeUnits(amount) - wholeUnits(min)) % size === 0n;
}
