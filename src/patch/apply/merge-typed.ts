import { itemElement, type PathElement } from './path-element.js';
import { formOf, type ListSchema, type MapSchema, type Schema } from './schema.js';
import { putOwn } from '../../machinery/put-own.js';

/**
 * Merges a configuration into an object: leaves are replaced, lists and maps are merged, nothing is removed. Items are
 * in the order of the configuration; items of the object only stay between the same neighbours. Arguments are not
 * changed. Unchanged values are returned themselves, so that they are found equal at once. Throws UntypedItem.
 */
export function mergeTyped(schema: Schema, live: unknown, config: unknown): unknown {
  if (config === undefined || live === config) return live;
  if (live === undefined) return config;
  switch (formOf(schema, config)) {
    case 'map':
      return mergeObjects(schema.map!, live, config);
    case 'list':
      return mergeLists(schema.list!, live, config);
    case 'scalar':
      return config;
  }
}

function mergeObjects(map: MapSchema, live: unknown, config: unknown): unknown {
  const left = asObject(live);
  const right = asObject(config);
  if (map.isAtomic || (isEmptyObject(left) && isEmptyObject(right))) return config;
  const out: Record<string, unknown> = {};
  let isEmpty = true;
  let isChanged = left === undefined;
  const merge = (name: string, from: unknown, to: unknown) => {
    const schema = map.fields.get(name)?.schema ?? map.values;
    const value = schema ? mergeTyped(schema, from, to) : (to ?? from);
    if (value !== from) isChanged = true;
    if (value === undefined) return;
    putOwn(out, name, value);
    isEmpty = false;
  };
  for (const name in left) merge(name, left[name], right && Object.hasOwn(right, name) ? right[name] : undefined);
  for (const name in right) if (!left || !Object.hasOwn(left, name)) merge(name, undefined, right[name]);
  if (isEmpty) return undefined;
  return isChanged ? out : left;
}

function mergeLists(list: ListSchema, live: unknown, config: unknown): unknown {
  const left = Array.isArray(live) ? (live as unknown[]) : [];
  const right = Array.isArray(config) ? (config as unknown[]) : [];
  if (list.kind === 'atomic' || (left.length === 0 && right.length === 0)) return config;
  const out = mergeItems(list, left, right);
  if (out.length === 0) return undefined;
  const isSame = out.length === left.length && out.every((item, index) => item === left[index]);
  return isSame ? left : out;
}

interface Indexed {
  readonly elements: readonly PathElement[];
  /** Undefined for duplicate items, which are not merged. */
  readonly items: ReadonlyMap<PathElement, unknown>;
}

function indexed(list: ListSchema, items: readonly unknown[]): Indexed {
  const elements: PathElement[] = [];
  const found = new Map<PathElement, unknown>();
  for (const item of items) {
    const element = itemElement(list, item);
    found.set(element, found.has(element) ? undefined : item);
    elements.push(element);
  }
  return { elements, items: found };
}

/**
 * Walks both lists at once. `awaited` is the next common item in the configuration's order: items of the object only
 * are inserted before it.
 */
function mergeItems(list: ListSchema, live: readonly unknown[], config: readonly unknown[]): unknown[] {
  const left = indexed(list, live);
  const right = indexed(list, config);
  const shared = right.elements.filter((element) => left.items.has(element));
  const done = new Set<PathElement>();
  const out: unknown[] = [];
  const take = (value: unknown) => {
    if (value !== undefined) out.push(value);
  };
  const merged = (element: PathElement) => {
    done.add(element);
    return mergeTyped(list.of, left.items.get(element), right.items.get(element));
  };
  let turn = 0;
  let awaited = shared[turn];
  let l = 0;
  let r = 0;
  while (l < live.length || r < config.length) {
    if (l < live.length && r < config.length) {
      const element = left.elements[l]!;
      if (element === right.elements[r]) {
        take(merged(element));
        l++;
        r++;
        awaited = shared[++turn];
        continue;
      }
      if (right.items.has(element) && awaited !== undefined && awaited !== element) {
        l++;
        continue;
      }
    }
    if (l < live.length) {
      const element = left.elements[l]!;
      if (!right.items.has(element)) {
        take(live[l++]);
        continue;
      }
      if (done.has(element)) l++;
    }
    if (r < config.length) {
      const element = right.elements[r++]!;
      take(merged(element));
      if (awaited === element) awaited = shared[++turn];
    }
  }
  return out;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function isEmptyObject(value: object | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}
