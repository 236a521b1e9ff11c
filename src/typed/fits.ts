import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { StructType } from '../machinery/type-model.js';
import { daysOfMonth } from '../std/civil-date.js';
import { planOf, type StructPlan, type TypePlan } from './type-plan.js';

/**
 * True if conform() would change nothing: every field is known and every value has the JSON type of its field. Much
 * cheaper than conform(), since it creates nothing. Returns false in cases that need a closer look: JSON schemas,
 * integers that a double does not hold. `isSafe` is called for free-form fields.
 */
export function fits(value: JsonValue, type: StructType, isSafe: (value: JsonValue) => boolean): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return structFits(planOf(type), value, isSafe);
}

function structFits(plan: StructPlan, object: JsonObject, isSafe: (value: JsonValue) => boolean): boolean {
  const { fields } = plan;
  for (const name in object) {
    const field = fields.get(name);
    if (field === undefined) return false;
    const value = object[name]!;
    // Fast path: most values are strings.
    if (typeof value === 'string' && field.type.form === 'string') continue;
    // conform() leaves null in no other fields.
    if (value === null ? field.absent() !== null : !valueFits(field.type, value, isSafe)) return false;
  }
  return true;
}

function valueFits(type: TypePlan, value: JsonValue, isSafe: (value: JsonValue) => boolean): boolean {
  switch (type.form) {
    case 'string':
    case 'bytes':
      return typeof value === 'string';
    case 'time':
      return typeof value === 'string' && isUsualTime(value);
    case 'microTime':
      return typeof value === 'string' && isUsualMicroTime(value);
    case 'quantity':
      return typeof value === 'string' && isUsualAmount(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'int32':
      return typeof value === 'number' && (value | 0) === value;
    case 'int64':
      return Number.isSafeInteger(value);
    case 'float64':
      return typeof value === 'number';
    case 'intOrString':
      return typeof value === 'string' || (typeof value === 'number' && (value | 0) === value);
    case 'struct':
      return isObject(value) && structFits(type.struct, value, isSafe);
    case 'list':
      return Array.isArray(value) && value.every((item) => item !== null && valueFits(type.of!, item, isSafe));
    case 'map':
      return isObject(value) && mapFits(type.of!, value, isSafe);
    case 'fieldsV1':
    case 'rawExtension':
    case 'json':
      return isSafe(value);
    default:
      return false;
  }
}

function mapFits(of: TypePlan, map: JsonObject, isSafe: (value: JsonValue) => boolean): boolean {
  for (const key in map) {
    const value = map[key]!;
    if (key === '__proto__' || value === null) return false;
    if (!valueFits(of, value, isSafe)) return false;
  }
  return true;
}

/** True for `2026-11-22T03:00:53Z`, the form that Go writes. Others are left to conform(). */
export function isUsualTime(text: string): boolean {
  if (text.length !== timePattern.length) return false;
  for (let at = 0; at < timePattern.length; at++) {
    const code = text.charCodeAt(at);
    const wanted = timePattern.charCodeAt(at);
    if (wanted === zero ? code < zero || code > nine : code !== wanted) return false;
  }
  // Years below 1000 are left to conform(), which knows the zero time.
  if (text.charCodeAt(0) === zero) return false;
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (month < 1 || month > 12 || day < 1 || !isHour(text)) return false;
  return day <= 28 || day <= daysOfMonth(Number(text.slice(0, 4)), month)!;
}

/** True for `2026-11-22T03:00:53.123456Z`, the form that Go writes. */
export function isUsualMicroTime(text: string): boolean {
  if (text.length !== microPattern.length || text.charCodeAt(secondsEnd) !== dot || !text.endsWith('Z')) return false;
  for (let at = secondsEnd + 1; at < microPattern.length - 1; at++) {
    const code = text.charCodeAt(at);
    if (code < zero || code > nine) return false;
  }
  return isUsualTime(`${text.slice(0, secondsEnd)}Z`);
}

const isHour = (text: string) => twoDigits(text, 11) < 24 && twoDigits(text, 14) < 60 && twoDigits(text, 17) < 60;
const twoDigits = (text: string, at: number) => (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero;
const timePattern = '0000-00-00T00:00:00Z';
const microPattern = '0000-00-00T00:00:00.000000Z';
const secondsEnd = timePattern.length - 1;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;

/** True for `100m`, `2Gi`: digits and a suffix. */
export function isUsualAmount(text: string): boolean {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at++;
  return at > 0 && at < 16 && suffixes.has(text.slice(at));
}
const suffixes = new Set(['', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti']);

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
