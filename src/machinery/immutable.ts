import { deepEqual } from './deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from './field-error.js';

/** The end of the detail of an error about a changed field. */
export const immutableDetail = 'field is immutable';

/** Requires a field to stay unchanged. `shown` is the value in the error message, if it differs. */
export function immutable(value: unknown, old: unknown, at: FieldPath, shown: unknown = value): FieldError[] {
  return deepEqual(orEmpty(value), orEmpty(old)) ? [] : [fieldError.invalid(at, shown ?? null, immutableDetail)];
}

/** Absent, null and empty lists and maps are equal. */
function orEmpty(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  return Object.keys(value).length === 0 ? undefined : value;
}
