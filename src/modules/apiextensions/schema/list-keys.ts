import { stringifyJson } from '../../../codec/json.js';
import type { JsonObject, JsonValue } from '../../../machinery/kube-object.js';

/** A text that two values share when they say the same, whatever the order of their fields. */
export function valueKey(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  return `json ${stringifyJson(inOrder(value))}`;
}

/** How often each value was there. */
export class Sightings {
  private readonly scalars = new Map<JsonValue | undefined, number>();
  private readonly others = new Map<string, number>();

  /** Sees a value; answers how often it was seen before. */
  see(value: JsonValue | undefined): number {
    const isScalar = typeof value !== 'object' || value === null;
    return isScalar ? count(this.scalars, value) : count(this.others, valueKey(value));
  }
}

function count<Key>(times: Map<Key, number>, key: Key): number {
  const before = times.get(key) ?? 0;
  times.set(key, before + 1);
  return before;
}

/** With fields by their names, as Go writes maps: in keys, and in what messages show. */
export function inOrder(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([field, inner]) => [field, inOrder(inner)]));
}

/** The keys that an item of a map list has; one that is absent is another than null. */
export function keysOf(item: JsonValue, keys: readonly string[]): JsonObject {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]!]));
}

/** What tells an item of a map list from others; one key alone is its value, and undefined where it is absent. */
export function itemKey(item: JsonValue, keys: readonly string[]): JsonValue | undefined {
  if (keys.length !== 1) return keysOf(item, keys);
  const key = keys[0]!;
  const isThere = typeof item === 'object' && item !== null && !Array.isArray(item) && Object.hasOwn(item, key);
  return isThere ? item[key] : undefined;
}
