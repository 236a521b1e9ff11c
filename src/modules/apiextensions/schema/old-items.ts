import type { JsonValue } from '../../../machinery/kube-object.js';
import { itemKey } from './list-keys.js';
import type { SchemaNode } from './schema-node.js';

/** Finds what an item of a list was before: by its keys, or by its place where items are not told apart. */
export function oldItems(
  old: JsonValue,
  node: SchemaNode,
): ((item: JsonValue, index: number) => JsonValue | undefined) | undefined {
  if (!Array.isArray(old)) return undefined;
  if (node.listType === undefined) return (_item, index) => old[index];
  if (node.listType !== 'map') return undefined;
  const byKey = new Map(old.map((item) => [itemKey(item, node.keys), item]));
  return (item) => byKey.get(itemKey(item, node.keys));
}
