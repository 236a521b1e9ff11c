import type { JsonObject, JsonValue, KubeObject } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';

/** Deep copy of JSON, ten times as fast as structuredClone. */
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

/** Deep copy of an API object. */
export const copyObject = (object: KubeObject): KubeObject =>
  copyJson(object as unknown as JsonObject) as unknown as KubeObject;
