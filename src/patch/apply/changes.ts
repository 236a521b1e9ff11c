import { deepEqual } from '../../machinery/deep-equal.js';
import { everything } from './everything.js';
import { leaf, noFields, sorted, union, unionOfNodes, type FieldSet, type OpenFieldSet } from './field-set.js';
import { fieldElement, itemElement, keyOf, type PathElement } from './path-element.js';
import { atomicJson, formOf, type ListSchema, type MapSchema, type Schema } from './schema.js';

/** The differences between two objects. A field is in at most one of the sets. */
export class Changes {
  private union: FieldSet | undefined = undefined;

  constructor(
    readonly added: FieldSet,
    readonly modified: FieldSet,
    readonly removed: FieldSet,
  ) {}

  /** Added and modified fields; memoized, since each of many owners asks for them. */
  get written(): FieldSet {
    return (this.union ??= union(this.added, this.modified));
  }
}

interface ComparedObjects {
  readonly schema: Schema;
  readonly from: unknown;
  readonly to: unknown;
  /** True if `to` contains, as Go writes it, the fields that are always written, even if they are absent. */
  readonly toIsComplete: boolean;
}

/** `from` undefined means an object without any field. Throws UntypedItem. */
export function changesBetween({ schema, from, to, toIsComplete }: ComparedObjects): Changes {
  const found = compare(schema, from ?? {}, to, toIsComplete);
  if (!found) return noChanges;
  return new Changes(found.added ?? noFields, found.modified ?? noFields, found.removed ?? noFields);
}

const noChanges = new Changes(noFields, noFields, noFields);

type Kind = 'added' | 'modified' | 'removed';
/** Nodes of the three sets for one value; undefined without a difference at or below it. */
type Found = { [kind in Kind]?: FieldSet };
type Open = { [kind in Kind]?: OpenFieldSet };
const kinds: readonly Kind[] = ['added', 'modified', 'removed'];

/** Returns undefined if there is no difference: nothing is allocated for unchanged values. */
function compare(schema: Schema, from: unknown, to: unknown, complete: boolean): Found | undefined {
  if (from === to) return undefined;
  const last = formOf(schema, to);
  const first = formOf(schema, from);
  const found = compareAs(last, schema, from, to, complete);
  if (first === last) return found;
  return both(compareAs(first, schema, from, to, complete), found);
}

function compareAs(
  form: 'scalar' | 'list' | 'map',
  schema: Schema,
  from: unknown,
  to: unknown,
  complete: boolean,
): Found | undefined {
  if (form === 'map') {
    const left = asObject(from);
    const right = asObject(to);
    const isLeaf = schema.map!.isAtomic || (isEmptyObject(left) && isEmptyObject(right));
    return isLeaf ? compareLeaves(from, to) : compareMaps(schema.map!, left, right, complete);
  }
  if (form === 'list') {
    const left = asList(from);
    const right = asList(to);
    const isLeaf = schema.list!.kind === 'atomic' || (isEmptyList(left) && isEmptyList(right));
    return isLeaf ? compareLeaves(from, to) : compareLists(schema.list!, left, right, complete);
  }
  return compareLeaves(from, to);
}

function compareLeaves(from: unknown, to: unknown): Found | undefined {
  return from === to || deepEqual(from, to) ? undefined : { modified: leaf };
}

function both(a: Found | undefined, b: Found | undefined): Found | undefined {
  if (!a || !b) return a ?? b;
  const out: Found = {};
  for (const kind of kinds) {
    const left = a[kind];
    const right = b[kind];
    const node = left && right ? unionOfNodes(left, right) : (left ?? right);
    if (node) out[kind] = node;
  }
  return out;
}

function compareMaps(
  map: MapSchema,
  from: Readonly<Record<string, unknown>> | undefined,
  to: Readonly<Record<string, unknown>> | undefined,
  complete: boolean,
): Found | undefined {
  let out: Open | undefined;
  for (const name in to) {
    const value = to[name];
    if (value === undefined) continue;
    const field = map.fields.get(name);
    const schema = field?.schema ?? map.values ?? atomicJson;
    let before = own(from, name);
    if (before === undefined) before = field?.zero;
    if (before === undefined) out = put(out, 'added', field?.element ?? fieldElement(name), everything(schema, value));
    else if (before !== value) {
      const found = compare(schema, before, value, complete);
      if (found) out = putAll(out, field?.element ?? fieldElement(name), found);
    }
  }
  for (const name in from) {
    const value = from[name];
    if (value === undefined || own(to, name) !== undefined) continue;
    const field = map.fields.get(name);
    const schema = field?.schema ?? map.values ?? atomicJson;
    const element = field?.element ?? fieldElement(name);
    if (!complete || field?.zero === undefined) {
      out = put(out, 'removed', element, everything(schema, value));
      continue;
    }
    const found = compare(schema, value, field.zero, complete);
    if (found) out = putAll(out, element, found);
  }
  return out && inOrder(out);
}

function compareLists(
  list: ListSchema,
  from: readonly unknown[] | undefined,
  to: readonly unknown[] | undefined,
  complete: boolean,
): Found | undefined {
  if (from && to && areAligned(list, from, to)) return compareAligned(list, from, to, complete);
  const left = itemsByElement(list, from);
  const right = itemsByElement(list, to);
  let out: Open | undefined;
  for (const [element, items] of left)
    out = compareItemsOf(out, list, element, items, right.get(element) ?? [], complete);
  for (const [element, items] of right) {
    if (!left.has(element)) out = compareItemsOf(out, list, element, [], items, complete);
  }
  return out && inOrder(out);
}

/** Duplicate items of a list are one leaf: they cannot be told apart. */
function compareItemsOf(
  out: Open | undefined,
  list: ListSchema,
  element: PathElement,
  from: readonly unknown[],
  to: readonly unknown[],
  complete: boolean,
): Open | undefined {
  if (from.length > 1 && to.length > 1) return deepEqual(from, to) ? out : put(out, 'modified', element, leaf);
  if (from.length > 1) {
    const changed = to.length === 0 ? out : put(out, 'added', element, everything(list.of, to[0]));
    return put(changed, 'removed', element, leaf);
  }
  if (to.length > 1) {
    const changed = from.length === 0 ? out : put(out, 'removed', element, everything(list.of, from[0]));
    return put(changed, 'added', element, leaf);
  }
  if (from.length === 0) return put(out, 'added', element, everything(list.of, to[0]));
  if (to.length === 0) return put(out, 'removed', element, everything(list.of, from[0]));
  const found = compare(list.of, from[0], to[0], complete);
  return found ? putAll(out, element, found) : out;
}

/** Fast path: the same items at the same indexes, without duplicates, so that no item needs a path element. */
function compareAligned(
  list: ListSchema,
  from: readonly unknown[],
  to: readonly unknown[],
  complete: boolean,
): Found | undefined {
  if (list.kind === 'set') return undefined;
  let out: Open | undefined;
  for (let i = 0; i < to.length; i++) {
    const found = compare(list.of, from[i], to[i], complete);
    if (found) out = putAll(out, itemElement(list, to[i]), found);
  }
  return out && inOrder(out);
}

/** Longest list for which pairwise comparison is faster than path elements. */
const alignedItemsMax = 12;

function areAligned(list: ListSchema, from: readonly unknown[], to: readonly unknown[]): boolean {
  if (from.length !== to.length || from.length > alignedItemsMax) return false;
  for (let i = 0; i < to.length; i++) {
    if (!isSameItem(list, from[i], to[i])) return false;
    for (let j = 0; j < i; j++) if (isSameItem(list, to[i], to[j])) return false;
  }
  return true;
}

function isSameItem(list: ListSchema, a: unknown, b: unknown): boolean {
  if (list.kind === 'set') return a === b && typeof a !== 'object';
  const left = asObject(a);
  const right = asObject(b);
  if (!left || !right) return false;
  let isKnown = false;
  for (const key of list.keys) {
    const value = keyOf(left, key);
    if (value !== keyOf(right, key)) return false;
    if (value !== undefined) isKnown = true;
  }
  return isKnown;
}

function itemsByElement(list: ListSchema, items: readonly unknown[] | undefined): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>();
  for (const item of items ?? []) {
    const element = itemElement(list, item);
    const same = found.get(element);
    if (same) same.push(item);
    else found.set(element, [item]);
  }
  return found;
}

function put(out: Open | undefined, kind: Kind, element: PathElement, node: FieldSet): Open {
  const open = out ?? {};
  (open[kind] ??= {})[element] = node;
  return open;
}

function putAll(out: Open | undefined, element: PathElement, found: Found): Open {
  let open = out;
  for (const kind of kinds) {
    const node = found[kind];
    if (node) open = put(open, kind, element, node);
  }
  return open ?? {};
}

/** Sorts the sets. Removed fields are only subtracted from other sets, so their order is irrelevant. */
function inOrder(out: Open): Found {
  if (out.added) out.added = sorted(out.added);
  if (out.modified) out.modified = sorted(out.modified);
  return out;
}

/** Returns an own property, ignoring Object.prototype. A null counts as present. */
function own(object: Readonly<Record<string, unknown>> | undefined, name: string): unknown {
  if (object === undefined) return undefined;
  const value = object[name];
  return typeof value === 'function' || value === Object.prototype ? undefined : value;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as unknown[]) : undefined;
}

function isEmptyObject(value: Readonly<Record<string, unknown>> | undefined): boolean {
  for (const name in value) if (value[name] !== undefined) return false;
  return true;
}

function isEmptyList(value: readonly unknown[] | undefined): boolean {
  return value === undefined || value.length === 0;
}
