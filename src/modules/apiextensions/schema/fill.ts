import type { JsonObject, JsonValue } from '../../../machinery/kube-object.js';
import { putOwn } from '../../../machinery/put-own.js';
import type { SchemaNode } from './schema-node.js';

/**
 * The value with defaults where it says nothing: a copy where something was missing, else the value itself. Only what
 * is there is filled in; an absent object stays absent unless it has a default as a whole. A null that is not allowed
 * says nothing: it becomes the default, or goes.
 */
export function filled(value: JsonValue, node: SchemaNode): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? filledList(value, node.items) : filledObject(value, node);
}

function filledObject(object: JsonObject, node: SchemaNode): JsonObject {
  let copy: JsonObject | undefined;
  if (node.properties.size > 0 || node.additional) {
    for (const field in object) {
      const known = node.properties.get(field) ?? node.additional;
      if (known === undefined) continue;
      const value = object[field]!;
      if (value === null && !known.isNullable) {
        copy ??= { ...object };
        if (known.default === undefined) delete copy[field];
        else copy[field] = fresh(known.default);
        continue;
      }
      if (typeof value !== 'object') continue;
      const whole = filled(value, known);
      if (whole !== value) (copy ??= { ...object })[field] = whole;
    }
  }
  for (const [field, known] of node.defaults) {
    if (!Object.hasOwn(object, field)) putOwn((copy ??= { ...object }), field, fresh(known.default!));
  }
  return copy ?? object;
}

function filledList(list: JsonValue[], items: SchemaNode | undefined): JsonValue[] {
  if (!items) return list;
  let copy: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index]!;
    // An item cannot go: without a default a null stays, and is refused.
    const isMissing = item === null && !items.isNullable && items.default !== undefined;
    const whole = isMissing ? fresh(items.default) : filled(item, items);
    if (whole !== item) (copy ??= [...list])[index] = whole;
  }
  return copy ?? list;
}

/** Whoever changes an object must not change the default of all others. */
function fresh(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fresh);
  const copy: JsonObject = {};
  for (const field in value) putOwn(copy, field, fresh(value[field]!));
  return copy;
}
