import type { JsonObject, JsonValue } from '../machinery/kube-object.js';

/** RFC 7386. Neither argument is changed; what is not patched is shared with the target. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const result: JsonObject = {};
  if (target !== undefined && isObject(target))
    for (const [field, value] of Object.entries(target)) set(result, field, value);
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else set(result, field, mergePatch(Object.hasOwn(result, field) ? result[field] : undefined, value));
  }
  return result;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field may have any name, that of the prototype included. */
function set(object: JsonObject, field: string, value: JsonValue): void {
  if (field !== '__proto__') object[field] = value;
  else Object.defineProperty(object, field, { value, enumerable: true, configurable: true, writable: true });
}
