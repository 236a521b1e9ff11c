import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { checked, notNegative } from './field-rules.js';
import { validatePercent } from './names.js';

/** Validates an IntOrString of a number or a percentage: `3`, `"25%"`. Accepts an absent value. */
export function validateIntOrPercent(value: number | string | null | undefined, at: FieldPath): FieldError[] {
  if (typeof value === 'string') return checked(value, at, validatePercent);
  return notNegative(value, at);
}

/** Rejects more than 100%. */
export function atMostAll(value: unknown, at: FieldPath): FieldError[] {
  const isTooMuch = typeof value === 'string' && validatePercent(value).length === 0 && intOrPercent(value) > 100;
  return isTooMuch ? [fieldError.invalid(at, value, 'must not be greater than 100%')] : [];
}

/** Returns the number without its unit, to compare it with zero. */
export function intOrPercent(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^[0-9]+%?$/.test(value) ? parseInt(value, 10) : 0;
}
