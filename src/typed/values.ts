import { int64Max, int64Min, type Int64 } from '../machinery/int64.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { isShortQuantity, Quantity, QuantityError } from '../machinery/quantity.js';
import { ConformError, type Mismatch } from './conform-error.js';
import { canonicalDuration } from './go-duration.js';
import { canonicalMicroTime, canonicalTime } from './go-time.js';
import type { Form, TypePlan } from './type-plan.js';
import { wellFormed } from './well-formed.js';

/** Scalars: checks their types, and converts them to what Go writes. */
export function int32Of(value: JsonValue): number | undefined {
  // Minus zero becomes zero.
  return typeof value === 'number' && (value | 0) === value ? value | 0 : undefined;
}

/** A bigint beyond what a double holds exactly, which only decoders that kept all digits produce. */
export function int64Of(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined;
  return typeof value === 'bigint' && value <= int64Max && value >= int64Min ? value : undefined;
}

/** Canonical form of times, durations and quantities. */
export function canonicalValue(form: Form, value: JsonValue): JsonValue {
  switch (form) {
    case 'quantity':
      return canonicalQuantity(value);
    case 'intOrString':
      return intOrString(value);
    case 'time':
      return canonicalTime(textOf(value));
    case 'microTime':
      return canonicalMicroTime(textOf(value));
    case 'duration':
      return canonicalDuration(textOf(value));
    default:
      throw new Error(`${form} is no value`);
  }
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value;
  throw mismatch({ found: goJsonText(value), wanted: 'string' });
}

function intOrString(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormed(value);
  const number = int32Of(value);
  if (number !== undefined) return number;
  throw mismatch({ found: goJsonText(value, true), wanted: 'int32' });
}

/** Cache: objects repeat the same few quantities. Cleared when full. */
const quantities = new Map<string, string>();
const quantitiesMax = 2000;
/** A longer text may be a part of a body that V8 keeps in memory with it. */
const cachedLengthMax = 12;

function canonicalQuantity(value: JsonValue): string {
  const text = typeof value === 'object' || typeof value === 'boolean' ? '{}' : String(value).trim();
  if (isShortQuantity(text)) return text;
  const known = quantities.get(text);
  if (known !== undefined) return known;
  let canonical: string;
  try {
    canonical = Quantity.parse(text).toString();
  } catch (error) {
    if (error instanceof QuantityError) throw new ConformError(error.message);
    throw error;
  }
  if (text.length <= cachedLengthMax) {
    if (quantities.size >= quantitiesMax) quantities.clear();
    quantities.set(text, canonical);
  }
  return canonical;
}

/** Without a field: the caller throws the message again with it. */
function mismatch(found: Mismatch): ConformError {
  return new ConformError(`json: cannot unmarshal ${found.found} into Go value of type ${found.wanted}`, found);
}

export function mismatchOf(value: JsonValue, type: TypePlan): Mismatch {
  const isNumeric = type.form === 'int32' || type.form === 'int64' || type.form === 'float64';
  return { found: goJsonText(value, isNumeric), wanted: type.goName };
}

/** Name of the JSON value in Go's errors; a number with its digits if a number was wanted. */
export function goJsonText(value: JsonValue, wantsNumber = false): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return wantsNumber ? `number ${digits(value)}` : 'number';
    default:
      return typeof value;
  }
}

function digits(value: Int64): string {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e21
    ? String(BigInt(value))
    : String(value);
}
