import { deepEqual } from './deep-equal.js';
import { fieldError, type FieldError, type FieldPath } from './field-error.js';

/** What was said once and for all. `shown` is how the message writes a value that is no simple one. */
export function immutable(value: unknown, old: unknown, at: FieldPath, shown: unknown = value): FieldError[] {
  return deepEqual(orEmpty(value), orEmpty(old))
    ? []
    : [fieldError.invalid(String(at), shown ?? null, 'field is immutable')];
}

/** Absent, null and empty lists and maps are the same to every client. */
function orEmpty(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  return Object.keys(value).length === 0 ? undefined : value;
}
