import { counted } from './error-budget.js';

/** What is wrong with one field. Validation collects all of them; it never throws and never mutates. */
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
  /** The whole text behind the field, e.g. `Invalid value: "x": must be …`. */
  readonly detail: string;
}

/** Values in messages look as Go's %q, %v and JSON print them: strings quoted, the rest as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  // eslint-disable-next-line no-restricted-syntax -- a message, not bytes of an object
  return JSON.stringify(value, markLarge).replace(/"\\u0000(-?\d+)"/g, '$1');
}

/** Whole numbers that JSON.stringify refuses: beyond what a double holds. */
const markLarge = (_field: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `\u0000${value.toString()}` : value;

export function goQuote(text: string): string {
  // eslint-disable-next-line no-restricted-syntax -- a message, not bytes of an object
  return JSON.stringify(text)
    .replace(/\\u00([0-9a-f]{2})/g, '\\x$1')
    .replace(/\\b/g, '\\b')
    .replace(/\\f/g, '\\f');
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const fieldError = {
  required: (field: string, detail = ''): FieldError =>
    counted({
      type: 'FieldValueRequired',
      field,
      detail: detail === '' ? 'Required value' : `Required value: ${detail}`,
    }),
  invalid: (field: string, value: unknown, detail: string): FieldError =>
    counted({
      type: 'FieldValueInvalid',
      field,
      detail: `Invalid value: ${shown(value)}${detail === '' ? '' : `: ${detail}`}`,
    }),
  forbidden: (field: string, detail: string): FieldError =>
    counted({
      type: 'FieldValueForbidden',
      field,
      detail: detail === '' ? 'Forbidden' : `Forbidden: ${detail}`,
    }),
  notFound: (field: string, value: unknown): FieldError =>
    counted({
      type: 'FieldValueNotFound',
      field,
      detail: `Not found: ${shown(value)}`,
    }),
  duplicate: (field: string, value: unknown): FieldError =>
    counted({
      type: 'FieldValueDuplicate',
      field,
      detail: `Duplicate value: ${shown(value)}`,
    }),
  notSupported: (field: string, value: unknown, supported: readonly string[]): FieldError =>
    counted({
      type: 'FieldValueNotSupported',
      field,
      detail: `Unsupported value: ${shown(value)}${
        supported.length === 0 ? '' : `: supported values: ${supported.map(goQuote).join(', ')}`
      }`,
    }),
  tooLong: (field: string, maxLength: number): FieldError =>
    counted({
      type: 'FieldValueTooLong',
      field,
      detail: `Too long: may not be more than ${countOf(maxLength, 'byte')}`,
    }),
  tooLongInCharacters: (field: string, maxLength: number): FieldError =>
    counted({
      type: 'FieldValueTooLong',
      field,
      detail: `Too long: may not be more than ${countOf(maxLength, 'character')}`,
    }),
  tooMany: (field: string, actual: number, max: number): FieldError =>
    counted({
      type: 'FieldValueTooMany',
      field,
      detail: `Too many: ${actual}: must have at most ${countOf(max, 'item')}`,
    }),
  typeInvalid: (field: string, value: unknown, detail: string): FieldError =>
    counted({
      type: 'FieldValueTypeInvalid',
      field,
      detail: `Invalid value: ${shown(value)}: ${detail}`,
    }),
};

/**
 * A path that grows by child and index: `path('spec').child('ports').index(0)`. Validation makes many and shows few, so
 * it is a chain of steps until somebody reads it.
 */
export class FieldPath {
  constructor(
    private readonly step: string | number,
    private readonly holder?: FieldPath,
    private readonly isKey = false,
  ) {}
  child(name: string, ...more: string[]): FieldPath {
    const child = name === '' ? this : new FieldPath(name, this);
    return more.length === 0 ? child : more.reduce<FieldPath>((holder, inner) => holder.child(inner), child);
  }
  index(position: number): FieldPath {
    return new FieldPath(position, this, true);
  }
  key(name: string): FieldPath {
    return new FieldPath(name, this, true);
  }
  toString(): string {
    const { step, holder } = this;
    const before = holder ? String(holder) : '';
    if (this.isKey) return `${before}[${step}]`;
    return before === '' ? String(step) : `${before}.${step}`;
  }
}
export const path = (text: string): FieldPath => new FieldPath(text);
