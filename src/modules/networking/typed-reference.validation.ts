import type { FieldError, FieldPath } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { asText, isSet, type Fields } from '../../machinery/fields.js';
import { validateDnsSubdomain, validatePathSegment } from '../../machinery/names.js';

/** An object of whichever kind, by its API group, kind and name. */
export function validateTypedReference(reference: Fields, at: FieldPath): FieldError[] {
  const { apiGroup } = reference;
  return [
    ...(isSet(apiGroup) ? checked(asText(apiGroup), at.child('apiGroup'), validateDnsSubdomain) : []),
    ...requiredName(asText(reference['kind']), at.child('kind'), validatePathSegment),
    ...requiredName(asText(reference['name']), at.child('name'), validatePathSegment),
  ];
}
