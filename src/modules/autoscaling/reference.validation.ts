import type { FieldError, FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asText, type Fields } from '../../machinery/fields.js';
import { validatePathSegment } from '../../machinery/names.js';

/** An object of any kind, by its kind and name: both become parts of a path. */
export function validateReference(ref: Fields, refAt: FieldPath): FieldError[] {
  return ['kind', 'name'].flatMap((field) => {
    const text = asText(ref[field]);
    return text === '' ? required(text, refAt.child(field)) : checked(text, refAt.child(field), validatePathSegment);
  });
}
