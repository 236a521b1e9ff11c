import type { CrossVersionObjectReference } from '../../catalog/types/autoscaling.v2.js';
import type { FieldError, FieldPath } from '../../machinery/field-error.js';
import { requiredName } from '../../machinery/field-rules.js';
import { validatePathSegment } from '../../machinery/names.js';

/** Validates a reference by kind and name, which both become segments of a URL path. */
export function validateReference(
  { kind = '', name = '' }: CrossVersionObjectReference,
  refAt: FieldPath,
): FieldError[] {
  return [
    ...requiredName(kind, refAt.child('kind'), validatePathSegment),
    ...requiredName(name, refAt.child('name'), validatePathSegment),
  ];
}
