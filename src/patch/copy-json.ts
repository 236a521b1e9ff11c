import type { JsonObject, JsonValue, KubeObject } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';

/** A copy that shares nothing: of JSON alone, which takes a tenth of what structuredClone takes. */
export function copyJson<Value extends JsonValue>(value: Value): Value;
export function copyJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: Record<string, JsonValue> = {};
  for (const name in value) {
    const part = value[name]!;
    const own = typeof part === 'object' && part !== null ? copyJson(part) : part;
    putOwn(copy, name, own);
  }
  return copy;
}

/** A copy of an object of the API, which is JSON alone. */
export const copyObject = (object: KubeObject): KubeObject =>
  copyJson(object as unknown as JsonObject) as unknown as KubeObject;
