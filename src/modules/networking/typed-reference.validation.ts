import type { TypedLocalObjectReference } from '../../catalog/types/core.v1.js';
import type { FieldError, FieldPath } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { validateDnsSubdomain, validatePathSegment } from '../../machinery/names.js';

/** Validates a reference to an object of any kind by API group, kind and name. */
export function validateTypedReference(
  { apiGroup = null, kind = '', name = '' }: TypedLocalObjectReference,
  at: FieldPath,
): FieldError[] {
  return [
    ...(apiGroup === null ? [] : checked(apiGroup, at.child('apiGroup'), validateDnsSubdomain)),
    ...requiredName(kind, at.child('kind'), validatePathSegment),
    ...requiredName(name, at.child('name'), validatePathSegment),
  ];
}
