import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { oneOf } from '../../machinery/field-rules.js';
import { asTexts } from '../../machinery/fields.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];

export function validateAccessModes(modes: unknown, at: FieldPath, whenNone = ''): FieldError[] {
  const given = asTexts(modes);
  if (given.length === 0) return [fieldError.required(String(at), whenNone)];
  const errors = given.flatMap((mode) => oneOf(mode, at, accessModes));
  // One pod alone, and many nodes: both cannot be.
  if (given.length > 1 && given.includes('ReadWriteOncePod')) {
    errors.push(fieldError.forbidden(String(at), 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}
