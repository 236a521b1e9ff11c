import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isNegative, isPositive, wholeUnits, type Amount } from './pod/pod-resources.js';

/** Validates an amount that must be greater than zero. */
export function validatePositiveAmount(amount: Amount, at: FieldPath): FieldError[] {
  return isPositive(amount) ? [] : [fieldError.invalid(at, amount, 'must be greater than zero')];
}

/** Validates an amount that must not be negative. */
export function validateAmount(amount: Amount, at: FieldPath): FieldError[] {
  return isNegative(amount) ? [fieldError.invalid(at, wholeUnits(amount), 'must be a valid resource quantity')] : [];
}
