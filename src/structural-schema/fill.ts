import { ApiError } from '../machinery/api-error.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import type { SchemaNode } from './schema-node.js';

/**
 * Sets the defaults of absent fields. Returns a copy if anything was absent, else the value itself. Defaults inside an
 * absent object are not set unless the object itself has a default. A null of a field that is not nullable is replaced
 * by the default, or removed. Throws ApiError (413) if the defaults add more than `bytesMax`.
 */
export function filled(value: JsonValue, node: SchemaNode, bytesMax = addedBytesMax): JsonValue {
  return filledValue(value, node, { bytesMax, left: bytesMax });
}

/**
 * A short default can be added to every item of a list, and to items of lists that are themselves defaults: an object
 * of 3 MiB could grow to gigabytes. The limit is that of request bodies.
 */
const addedBytesMax = 3 * 1024 * 1024;
/**
 * Minimum size that a value is counted with, since even a short one costs memory and time: at most 25,000 values are
 * added.
 */
const valueBytes = 125;

/** The bytes that defaults may still add. */
interface Allowance {
  readonly bytesMax: number;
  left: number;
}

function filledValue(value: JsonValue, node: SchemaNode, allowance: Allowance): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? filledList(value, node.items, allowance) : filledObject(value, node, allowance);
}

function filledObject(object: JsonObject, node: SchemaNode, allowance: Allowance): JsonObject {
  let copy: JsonObject | undefined;
  if (node.properties.size > 0 || node.additional) {
    for (const field in object) {
      const known = node.properties.get(field) ?? node.additional;
      if (known === undefined) continue;
      const value = object[field]!;
      if (value === null && !known.isNullable) {
        copy ??= { ...object };
        if (known.default === undefined) delete copy[field];
        else copy[field] = fresh(known.default, allowance);
        continue;
      }
      if (typeof value !== 'object') continue;
      const whole = filledValue(value, known, allowance);
      if (whole !== value) (copy ??= { ...object })[field] = whole;
    }
  }
  for (const [field, known] of node.defaults) {
    if (!Object.hasOwn(object, field)) putOwn((copy ??= { ...object }), field, fresh(known.default!, allowance));
  }
  return copy ?? object;
}

function filledList(list: JsonValue[], items: SchemaNode | undefined, allowance: Allowance): JsonValue[] {
  if (!items) return list;
  let copy: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index]!;
    // Items cannot be removed: without a default, a null stays and fails validation.
    const isMissing = item === null && !items.isNullable && items.default !== undefined;
    const whole = isMissing ? fresh(items.default, allowance) : filledValue(item, items, allowance);
    if (whole !== item) (copy ??= [...list])[index] = whole;
  }
  return copy ?? list;
}

/** Copies a default, since objects are changed in place. */
function fresh(value: JsonValue, allowance: Allowance): JsonValue {
  take(valueBytes + (typeof value === 'string' ? value.length : 0), allowance);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => fresh(item, allowance));
  const copy: JsonObject = {};
  for (const field in value) {
    take(field.length, allowance);
    putOwn(copy, field, fresh(value[field]!, allowance));
  }
  return copy;
}

function take(bytes: number, allowance: Allowance): void {
  allowance.left -= bytes;
  if (allowance.left >= 0) return;
  throw ApiError.requestEntityTooLarge(
    `Request entity too large: defaults of the schema add more than ${allowance.bytesMax} bytes`,
  );
}
