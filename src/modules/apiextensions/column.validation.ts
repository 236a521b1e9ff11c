import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { asText, type Fields } from '../../machinery/fields.js';

const types = ['boolean', 'date', 'integer', 'number', 'string'];
const formats = [...['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']];

/** Validates an entry of `additionalPrinterColumns`. */
export function validateColumn(column: Fields, at: FieldPath): FieldError[] {
  const type = asText(column['type']);
  const format = asText(column['format']);
  const jsonPath = asText(column['jsonPath']);
  const where = at.child('JSONPath');
  return [
    ...required(column['name'], at.child('name')),
    ...(type === ''
      ? required(type, at.child('type'), `must be one of ${types.join(',')}`)
      : among(type, at.child('type'), types)),
    ...(format === '' ? [] : among(format, at.child('format'), formats)),
    ...(jsonPath === '' ? required(jsonPath, where) : validateSimplePath(jsonPath, where)),
  ];
}

function among(value: string, at: FieldPath, accepted: readonly string[]): FieldError[] {
  if (accepted.includes(value)) return [];
  return [fieldError.invalid(at, value, `must be one of ${accepted.join(',')}`)];
}

/** Validates a simple JSON path: `.spec.replicas`. */
export function validateSimplePath(text: string, at: FieldPath): FieldError[] {
  if (text.startsWith('.')) return [];
  return [fieldError.invalid(at, text, 'must be a simple json path starting with .')];
}
