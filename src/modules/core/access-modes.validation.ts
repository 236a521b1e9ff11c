import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { oneOf } from '../../machinery/field-rules.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];

export function validateAccessModes(modes: readonly string[] = [], at: FieldPath, whenNone = ''): FieldError[] {
  if (modes.length === 0) return [fieldError.required(at, whenNone)];
  const errors = modes.flatMap((mode) => oneOf(mode, at, accessModes));
  // ReadWriteOncePod allows a single Pod, which contradicts every other mode.
  if (modes.length > 1 && modes.includes('ReadWriteOncePod')) {
    errors.push(fieldError.forbidden(at, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}
