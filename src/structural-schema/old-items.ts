import type { JsonValue } from '../machinery/kube-object.js';
import { valueKey } from '../machinery/value-key.js';
import { itemKey } from './list-keys.js';
import type { SchemaNode } from './schema-node.js';

/** Returns a function that finds the old item of a new one: by keys in list maps, else by index. */
export function oldItems(
  old: JsonValue,
  node: SchemaNode,
): ((item: JsonValue, index: number) => JsonValue | undefined) | undefined {
  if (!Array.isArray(old)) return undefined;
  if (node.listType === undefined) return (_item, index) => old[index];
  if (node.listType !== 'map') return undefined;
  const keyOf = (item: JsonValue) => valueKey(itemKey(item, node.keys));
  const byKey = new Map(old.map((item) => [keyOf(item), item]));
  return (item) => byKey.get(keyOf(item));
}
