import { fieldError, goQuote } from '../machinery/field-error.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { mismatchOf } from './matching.js';
import type { SchemaNode, TextBounds } from './schema-node.js';
import type { ValueWalk } from './value-walk.js';

/** Exclusive bound of int64; larger integers are of type number. */
const integerEnd = 2 ** 63;

function typeOf(value: Exclude<JsonValue, null>): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value !== 'number') return typeof value;
  return Number.isInteger(value) && value >= -integerEnd && value < integerEnd ? 'integer' : 'number';
}

export function validateType(value: JsonValue, { type, types, isNullable, format }: SchemaNode, walk: ValueWalk): void {
  if (value === null) {
    if (isNullable || type === '') walk.matches++;
    else walk.wrongType(type, 'null');
    return;
  }
  if (type === '' && !format) return;
  walk.matches++;
  const actual = typeOf(value);
  if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) walk.matches++;
  else if (format && typeof value !== 'string' && !Array.isArray(value)) {
    // With a format, messages name the format and the Go type of the number.
    walk.wrongType(format.name, heldAs(actual));
  } else if (type === '') walk.matches++;
  else walk.wrongType(type, actual);
}

function heldAs(type: string): string {
  if (type === 'integer') return 'int64';
  return type === 'number' ? 'float64' : '';
}

/** Reports the first violated bound of a text, and separately a violated format. */
export function validateText(value: string, { text, format }: SchemaNode, walk: ValueWalk): void {
  walk.matches += format ? 2 : 1;
  if (text) validateTextBounds(value, text, walk);
  if (format && !format.fits(value)) {
    walk.report(() => {
      const message = `${walk.name} in body must be of type ${format.name}: ${goQuote(value)}`;
      return fieldError.typeInvalid(walk.field, value, message);
    });
  }
}

function validateTextBounds(value: string, bounds: TextBounds, walk: ValueWalk): void {
  const { min, max, pattern } = bounds;
  if (max !== undefined && value.length > max && lengthOf(value) > max) {
    walk.report(() => fieldError.tooLong(walk.field, max));
  } else if (min !== undefined && lengthOf(value) < min) {
    walk.invalid(value, `should be at least ${min} chars long`);
  } else if (pattern) {
    const problem = mismatchOf(pattern, value, walk.matching);
    if (problem !== undefined) walk.invalid(value, problem);
  }
}

/** Counts code points: some take two UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length++;
  return length;
}

export function validateNumber(value: number | bigint, { type, format, number }: SchemaNode, walk: ValueWalk): void {
  walk.matches += 2;
  const checkRange = (what: string, checked: number | bigint) => {
    if (!isInRange(checked, type, format?.name)) {
      const wanted = format ? `${type} with format ${format.name}` : `${type} (default format)`;
      walk.invalidAsWhole(() => `${what} value must be of type ${wanted} in ${walk.name}`);
    }
  };
  checkRange('Checked', value);
  if (!number) return;
  const { min, max, isAboveMin, isBelowMax, multipleOf } = number;
  if (multipleOf !== undefined) {
    checkRange('MultipleOf', multipleOf);
    if (!isMultiple(value, multipleOf)) walk.invalid(value, `should be a multiple of ${multipleOf}`);
  }
  if (min !== undefined) {
    checkRange('Minimum boundary', min);
    const isBelow = isAboveMin ? value <= min : value < min;
    if (isBelow) walk.invalid(value, `should be greater than ${isAboveMin ? '' : 'or equal to '}${min}`);
  }
  if (max !== undefined) {
    checkRange('Maximum boundary', max);
    const isAbove = isBelowMax ? value >= max : value > max;
    if (isAbove) walk.invalid(value, `should be less than ${isBelowMax ? '' : 'or equal to '}${max}`);
  }
}

/** True if the number fits its type and format. Bounds of the schema must fit the type too. */
function isInRange(value: number | bigint, type: string, format: string | undefined): boolean {
  if (type === 'integer') {
    const end = format === 'int32' ? 2 ** 31 : integerEnd;
    // Go prints -2^63 of a double with 16 digits, which is out of range. As a value it is a bigint.
    const isLowest = typeof value === 'bigint' || format === 'int32' ? value >= -end : value > -end;
    return (typeof value === 'bigint' || Number.isInteger(value)) && isLowest && value < end;
  }
  return format !== 'float' || Number.isFinite(Math.fround(Number(value)));
}

/** Floating-point quotients are not exact: 0.3 counts as a multiple of 0.1. */
const tolerance = 1e-9;

function isMultiple(value: number | bigint, factor: number): boolean {
  if (factor <= 0) return true;
  if (Number.isInteger(factor)) {
    if (typeof value === 'bigint') return value % BigInt(factor) === 0n;
    if (Number.isInteger(value)) return value % factor === 0;
  }
  const times = Number(value) / factor;
  return Number.isInteger(times) || Math.abs(times - Math.round(times)) < tolerance * Math.abs(times);
}
