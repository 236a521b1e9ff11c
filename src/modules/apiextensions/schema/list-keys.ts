import { stringifyJson } from '../../../codec/json.js';
import type { JsonObject, JsonValue } from '../../../machinery/kube-object.js';

/** A text that two values share when they say the same, whatever the order of their fields. */
export function valueKey(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  return `json ${stringifyJson(sorted(value))}`;
}

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([field, inner]) => [field, sorted(inner)]));
}

/** The keys that an item of a map list has; one that is absent is another than null. */
export function keysOf(item: JsonValue, keys: readonly string[]): JsonObject {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]!]));
}

export function itemKey(item: JsonValue, keys: readonly string[]): string {
  if (keys.length !== 1) return valueKey(keysOf(item, keys));
  const key = keys[0]!;
  const isThere = typeof item === 'object' && item !== null && !Array.isArray(item) && Object.hasOwn(item, key);
  return isThere ? valueKey(item[key]!) : '';
}
