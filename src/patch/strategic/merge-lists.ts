import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/kube-object.js';
import { countValues } from '../../machinery/count-values.js';
import { goTypeName } from '../go-print.js';
import { hasDirective, isDeletion, own, patchDirective, valueOfPatch } from './directives.js';
import { misfit, type PatchPath } from './strategic-error.js';

interface ListMerge {
  readonly path: PatchPath;
  /** Undefined if items are identified by value. */
  readonly mergeKey: string | undefined;
  readonly mergeItem: (original: JsonObject, patch: JsonObject) => JsonValue;
}

/**
 * Merges the patch's items into the list: changes, adds and deletes items. The patch's items keep the patch's order.
 */
export function mergeLists(original: readonly JsonValue[], patch: readonly JsonValue[], merge: ListMerge): JsonValue[] {
  if (original.length === 0 && patch.length === 0) return [];
  if (!holdsObjects(merge.path, original, patch)) {
    const all = [...new Set([...original, ...patch])];
    return inOrder(all, { first: patch, then: original, keyOf: itself });
  }
  const key = merge.mergeKey;
  if (key === undefined) throw misfit.noDeclaredKey(merge.path);
  const { left, rest } = withoutDirectives(original, patch, key, merge.path);
  const items = mergeItems(left, rest, key, merge);
  return inOrder(items, { first: rest, then: left, keyOf: keyReader(key, merge.path) });
}

/** True if the items are objects; throws if only some are. */
export function holdsObjects(path: PatchPath, ...lists: (readonly JsonValue[])[]): boolean {
  let kind: string | undefined;
  for (const item of lists.flat(1)) {
    const found = goTypeName(item);
    if (Array.isArray(item)) throw misfit.listOfLists(path);
    if (kind !== undefined && kind !== found) throw misfit.mixedItems(path, lists);
    kind = found;
  }
  return kind === 'map[string]interface {}';
}

function withoutDirectives(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  key: string,
  path: PatchPath,
): { left: readonly JsonValue[]; rest: readonly JsonValue[] } {
  const gone = new Set<JsonValue>();
  let replaces = false;
  for (const item of patch as readonly JsonObject[]) {
    const directive = item[patchDirective];
    if (directive === undefined) continue;
    if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw misfit.mergeDirective(path);
    else if (directive !== 'delete') throw misfit.directive(path, directive, item);
    else gone.add(keyReader(key, path)(item));
  }
  const rest = patch.filter((item) => !hasDirective(item));
  if (replaces) return { left: rest, rest: [] };
  const left = gone.size === 0 ? original : original.filter((item) => !gone.has(own(item as JsonObject, key) ?? null));
  return { left, rest };
}

/**
 * Limit on the values visited for repeated items, since each occurrence costs the size of the merged item: this many,
 * plus twice the values of list and patch.
 */
const repeatedValuesMin = 1000;

function mergeItems(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  key: string,
  { path, mergeItem }: ListMerge,
): JsonValue[] {
  const items = [...original];
  const places = new Map<JsonValue, number>();
  items.forEach((item, at) => {
    const value = own(item as JsonObject, key);
    if (value !== undefined && !places.has(value)) places.set(value, at);
  });
  const keyOf = keyReader(key, path);
  const changed = new Set<number>();
  const repeated = { values: 0, max: -1 };
  for (const item of patch as readonly JsonObject[]) {
    const value = keyOf(item);
    const at = places.get(value);
    if (at !== undefined) {
      if (changed.has(at)) {
        if (repeated.max < 0) repeated.max = repeatedValuesMin + 2 * countValues([...original, ...patch], Infinity);
        repeated.values += countValues(items[at]!, Infinity);
        if (repeated.values > repeated.max) throw misfit.repeatedChanges(path, key);
      }
      changed.add(at);
      items[at] = mergeItem(items[at] as JsonObject, item);
    } else places.set(value, items.push(valueOfPatch(item) ?? item) - 1);
  }
  return items;
}

type KeyReader = (item: JsonValue) => JsonValue;
export const itself: KeyReader = (item) => item;

export function keyReader(key: string, path: PatchPath): KeyReader {
  return (item) => {
    if (!isJsonObject(item)) throw misfit.wrongType(path, 'map[string]interface {}', item);
    const value = own(item, key);
    if (value === undefined) throw misfit.noMergeKey(path, item, key);
    return value;
  };
}

interface Order {
  /** Items of the patch, in its order. */
  readonly first: readonly JsonValue[];
  /** The order of the object, which places the other items. */
  readonly then: readonly JsonValue[];
  readonly keyOf: KeyReader;
}

/** Orders the patch's items as in the patch; each other item is placed before the first item that it preceded. */
export function inOrder(items: readonly JsonValue[], { first, then, keyOf }: Order): JsonValue[] {
  const wanted = placesOf(first, keyOf);
  const live = placesOf(then, keyOf);
  const keys = new Map(items.map((item) => [item, keyOf(item)] as const));
  const placed = (item: JsonValue, places: ReadonlyMap<JsonValue, number>) => places.get(keys.get(item)!);
  const asked = sortedBy(
    items.filter((item) => placed(item, wanted) !== undefined),
    (item) => placed(item, wanted),
  );
  const others = sortedBy(
    items.filter((item) => placed(item, wanted) === undefined),
    (item) => placed(item, live),
  );
  const out: JsonValue[] = [];
  let next = 0;
  for (const item of asked) {
    const liveIndex = placed(item, live);
    while (liveIndex !== undefined && next < others.length && (placed(others[next]!, live) ?? Infinity) < liveIndex) {
      out.push(others[next++]!);
    }
    out.push(item);
  }
  return out.concat(others.slice(next));
}

function sortedBy(items: JsonValue[], indexOf: (item: JsonValue) => number | undefined): JsonValue[] {
  return items.sort((a, b) => (indexOf(a) ?? Infinity) - (indexOf(b) ?? Infinity) || 0);
}

function placesOf(items: readonly JsonValue[], keyOf: KeyReader): ReadonlyMap<JsonValue, number> {
  const places = new Map<JsonValue, number>();
  items.forEach((item, at) => {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, at);
  });
  return places;
}

/** Throws unless the order of the patch names all items that the patch changes. */
export function checkOrder(
  patch: readonly JsonValue[],
  order: readonly JsonValue[],
  mergeKey: string | undefined,
  path: PatchPath,
): void {
  if (order.length === 0 || patch.length === 0) return;
  const keyOf = mergeKey === undefined ? itself : keyReader(mergeKey, path);
  const kept = mergeKey === undefined ? patch : patch.filter((item) => !isDeletion(item));
  let at = 0;
  for (const wanted of order) {
    while (at < kept.length && hasDirective(kept[at]!)) at++;
    if (at === kept.length) return;
    if (keyOf(kept[at]!) === keyOf(wanted)) at++;
  }
  while (at < kept.length && hasDirective(kept[at]!)) at++;
  if (at < kept.length) throw misfit.order(path, patch, order);
}

/**
 * The order that places items which a `$setElementOrder` does not name. As in kube-apiserver, new items take the
 * indexes of deleted ones, which are moved to the end: there they come after all items of others, elsewhere before
 * them.
 */
export function orderAfter(
  live: readonly JsonValue[],
  patch: readonly JsonValue[],
  key: string,
  path: PatchPath,
): readonly JsonValue[] {
  const keyOf = keyReader(key, path);
  const gone = new Set(patch.filter(isDeletion).map(keyOf));
  if (gone.size === 0) return live;
  const left = live.filter((item) => !gone.has(keyOf(item)));
  const known = new Set(left.map(keyOf));
  const added = patch.filter((item) => !hasDirective(item) && !known.has(keyOf(item)));
  return [...left, ...added.slice(0, live.length - left.length)];
}
