import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields } from '../../machinery/fields.js';
import { validateDnsLabel } from '../../machinery/names.js';

const countersMax = 32;

/** What devices of one piece of hardware share, or take of what is shared. */
export function validateCounters(counters: unknown, countersAt: FieldPath): FieldError[] {
  const names = Object.keys(asFields(counters));
  if (names.length === 0) return required(undefined, countersAt);
  return [
    ...(names.length > countersMax ? [fieldError.tooMany(String(countersAt), names.length, countersMax)] : []),
    ...names.flatMap((name) => checked(name, countersAt.key(name), validateDnsLabel)),
  ];
}
