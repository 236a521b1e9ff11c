import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { checked, notNegative } from './field-rules.js';
import { isSet } from './fields.js';
import { validatePercent } from './names.js';

/** An amount of pods, said as a number or as a share of all of them: `3`, `"25%"`. An absent one is another rule's matter. */
export function validateIntOrPercent(value: unknown, at: FieldPath): FieldError[] {
  if (!isSet(value)) return [];
  if (typeof value === 'string') return checked(value, at, validatePercent);
  return notNegative(value, at);
}

/** No more than all of them. */
export function atMostAll(value: unknown, at: FieldPath): FieldError[] {
  const isTooMuch = typeof value === 'string' && validatePercent(value).length === 0 && intOrPercent(value) > 100;
  return isTooMuch ? [fieldError.invalid(String(at), value, 'must not be greater than 100%')] : [];
}

/** The number in front, whatever its unit: enough to tell zero from something. */
export function intOrPercent(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^[0-9]+%?$/.test(value) ? parseInt(value, 10) : 0;
}
