import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { valueKey } from '../machinery/value-key.js';

/** Counts the occurrences of values. */
export class Occurrences {
  private readonly scalars = new Map<JsonValue | undefined, number>();
  private readonly others = new Map<string, number>();

  /** Counts an occurrence of a value; returns the number of earlier ones. */
  add(value: JsonValue | undefined): number {
    const isScalar = typeof value !== 'object' || value === null;
    return isScalar ? count(this.scalars, value) : count(this.others, valueKey(value));
  }
}

function count<Key>(times: Map<Key, number>, key: Key): number {
  const before = times.get(key) ?? 0;
  times.set(key, before + 1);
  return before;
}

/** Sorts the fields by name, as Go encodes maps: for error messages. */
export function inOrder(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([field, inner]) => [field, inOrder(inner)]));
}

/** Returns the key fields of an item of a list map; an absent field differs from null. */
export function keysOf(item: JsonValue, keys: readonly string[]): JsonObject {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]!]));
}

/** Returns the key of an item of a list map. A single key field is returned as its value, or undefined if absent. */
export function itemKey(item: JsonValue, keys: readonly string[]): JsonValue | undefined {
  if (keys.length !== 1) return keysOf(item, keys);
  const key = keys[0]!;
  const isThere = typeof item === 'object' && item !== null && !Array.isArray(item) && Object.hasOwn(item, key);
  return isThere ? item[key] : undefined;
}
