import { secretMark } from '../std/secret-mark.js';
import { counted, requireBudget } from './error-budget.js';
import type { FieldError } from './field-error-type.js';
import { goQuote, shortenedValue } from './go-quote.js';

export type { FieldError, FieldErrorType } from './field-error-type.js';
export { goEscapes, goQuote } from './go-quote.js';

/** Stands for a value that an error does not print. */
export const hidden = Symbol('hidden');

/** Formats values as Go does: strings as %q, others as JSON. */
function formatValue(value: unknown): string {
  requireBudget();
  if (typeof value === 'string') return goQuote(value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  // eslint-disable-next-line no-restricted-syntax -- a message, not bytes of an object
  const json = JSON.stringify(value, markLarge).replace(markedInteger, (_whole, digits: string) => digits);
  return shortenedValue(json).replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const mark = secretMark('int64');
const markedInteger = new RegExp(`"${mark}(-?\\d+)"`, 'g');
/** Marks integers that JSON.stringify does not support: those a double cannot represent. */
const markLarge = (_field: string, value: unknown): unknown => (typeof value === 'bigint' ? `${mark}${value}` : value);

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Creates field errors and counts them against the running validation. */
export const fieldError = {
  required: (field: string | FieldPath, detail = ''): FieldError =>
    counted({
      type: 'FieldValueRequired',
      field: String(field),
      detail: detail === '' ? 'Required value' : `Required value: ${detail}`,
    }),
  invalid: (field: string | FieldPath, value: unknown, detail: string): FieldError =>
    counted({
      type: 'FieldValueInvalid',
      field: String(field),
      detail: `Invalid value${value === hidden ? '' : `: ${formatValue(value)}`}${detail === '' ? '' : `: ${detail}`}`,
    }),
  /** An error about a value that is too large to be shown. */
  invalidOmitted: (field: string | FieldPath, detail: string): FieldError =>
    counted({ type: 'FieldValueInvalid', field: String(field), detail: `Invalid value: ${detail}` }),
  forbidden: (field: string | FieldPath, detail: string): FieldError =>
    counted({
      type: 'FieldValueForbidden',
      field: String(field),
      detail: detail === '' ? 'Forbidden' : `Forbidden: ${detail}`,
    }),
  notFound: (field: string | FieldPath, value: unknown): FieldError =>
    counted({
      type: 'FieldValueNotFound',
      field: String(field),
      detail: `Not found: ${formatValue(value)}`,
    }),
  duplicate: (field: string | FieldPath, value: unknown): FieldError =>
    counted({
      type: 'FieldValueDuplicate',
      field: String(field),
      detail: `Duplicate value: ${formatValue(value)}`,
    }),
  notSupported: (field: string | FieldPath, value: unknown, supported: readonly string[]): FieldError =>
    counted({
      type: 'FieldValueNotSupported',
      field: String(field),
      detail: `Unsupported value: ${formatValue(value)}${
        supported.length === 0 ? '' : `: supported values: ${supported.map(goQuote).join(', ')}`
      }`,
    }),
  tooLong: (field: string | FieldPath, maxLength: number): FieldError =>
    counted({
      type: 'FieldValueTooLong',
      field: String(field),
      detail: `Too long: may not be more than ${countOf(maxLength, 'byte')}`,
    }),
  tooLongInCharacters: (field: string | FieldPath, maxLength: number): FieldError =>
    counted({
      type: 'FieldValueTooLong',
      field: String(field),
      detail: `Too long: may not be more than ${countOf(maxLength, 'character')}`,
    }),
  tooMany: (field: string | FieldPath, actual: number, max: number): FieldError =>
    counted({
      type: 'FieldValueTooMany',
      field: String(field),
      detail: `Too many: ${actual}: must have at most ${countOf(max, 'item')}`,
    }),
  internal: (field: string | FieldPath, detail: string): FieldError =>
    counted({ type: 'InternalError', field: String(field), detail: `Internal error: ${detail}` }),
  typeInvalid: (field: string | FieldPath, value: unknown, detail: string): FieldError =>
    counted({
      type: 'FieldValueTypeInvalid',
      field: String(field),
      detail: `Invalid value: ${formatValue(value)}: ${detail}`,
    }),
};

/**
 * A field path: `path('spec').child('ports').index(0)`. Validation creates many and prints few, so the text is built on
 * demand.
 */
export class FieldPath {
  constructor(
    private readonly step: string | number,
    private readonly parent?: FieldPath,
    private readonly isKey = false,
  ) {}
  child(name: string, ...more: string[]): FieldPath {
    const child = name === '' ? this : new FieldPath(name, this);
    return more.length === 0 ? child : more.reduce<FieldPath>((path, inner) => path.child(inner), child);
  }
  index(position: number): FieldPath {
    return new FieldPath(position, this, true);
  }
  key(name: string): FieldPath {
    return new FieldPath(name, this, true);
  }
  toString(): string {
    const { step, parent } = this;
    const before = parent ? String(parent) : '';
    if (this.isKey) return `${before}[${step}]`;
    return before === '' ? String(step) : `${before}.${step}`;
  }
}
export const path = (text: string): FieldPath => new FieldPath(text);
