import type { Counter } from '../../catalog/types/resource.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { validateDnsLabel } from '../../machinery/names.js';

const countersMax = 32;

/** Validates the counters of a counter set, or those that a device consumes of one. */
export function validateCounters(
  counters: Readonly<Record<string, Counter>> | undefined,
  countersAt: FieldPath,
): FieldError[] {
  const names = Object.keys(counters ?? {});
  if (names.length === 0) return required(undefined, countersAt);
  return [
    ...(names.length > countersMax ? [fieldError.tooMany(countersAt, names.length, countersMax)] : []),
    ...names.flatMap((name) => checked(name, countersAt.key(name), validateDnsLabel)),
  ];
}
