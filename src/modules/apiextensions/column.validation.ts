import type { CustomResourceColumnDefinition } from '../../catalog/types/apiextensions.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';

const types = ['boolean', 'date', 'integer', 'number', 'string'];
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Validates an entry of `additionalPrinterColumns`. */
export function validateColumn(column: CustomResourceColumnDefinition, at: FieldPath): FieldError[] {
  const { name, type = '', format = '', jsonPath = '' } = column;
  const pathAt = at.child('JSONPath');
  return [
    ...required(name, at.child('name')),
    ...(type === ''
      ? required(type, at.child('type'), `must be one of ${types.join(',')}`)
      : among(type, at.child('type'), types)),
    ...(format === '' ? [] : among(format, at.child('format'), formats)),
    ...(jsonPath === '' ? required(jsonPath, pathAt) : validateSimplePath(jsonPath, pathAt)),
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
