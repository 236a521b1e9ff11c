import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';

/** Applies a JSON merge patch (RFC 7386). Arguments are not changed; unpatched values are shared with the target. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = {};
  if (target !== undefined && isJsonObject(target))
    for (const [field, value] of Object.entries(target)) putOwn(result, field, value);
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else putOwn(result, field, mergePatch(Object.hasOwn(result, field) ? result[field] : undefined, value));
  }
  return result;
}
