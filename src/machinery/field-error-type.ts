/** Validation errors of fields. Validation returns all of them; it never throws and never changes the object. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.ports[0].name` */
  readonly field: string;
  /** The complete text after the field: `Invalid value: "x": must be …`. */
  readonly detail: string;
}
