import { readJson, scalarText } from './json-text.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import type { ListKey, ListSchema } from './schema.js';

/**
 * A path element as stored: `f:name` is a field, `k:{"name":"x"}` an item of a list map by its keys, `v:"x"` an item of
 * a set by its value, `i:0` an item by its index. Equal elements are equal strings.
 */
export type PathElement = string;

/** A list whose items have no identity: keys are missing, or of a wrong type. */
export class UntypedItem extends Error {
  override readonly name = 'UntypedItem';
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** Throws UntypedItem. */
export function itemElement(list: ListSchema, item: unknown): PathElement {
  return list.kind === 'set' ? setElement(item) : keyElement(list, item);
}

function setElement(item: unknown): PathElement {
  if (item === null) throw new UntypedItem("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new UntypedItem('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new UntypedItem("associative list without keys has an element that's a map type");
  return `v:${scalarText(item)}`;
}

function keyElement(list: ListSchema, item: unknown): PathElement {
  if (item === null) throw new UntypedItem('associative list with keys may not have a null element');
  if (typeof item !== 'object' || Array.isArray(item)) {
    throw new UntypedItem('associative list with keys may not have non-map elements');
  }
  let text = '';
  for (const key of list.keys) {
    const value = keyOf(item, key);
    if (value === undefined) continue;
    text = `${text === '' ? 'k:{' : `${text},`}${key.label}${scalarText(value)}`;
  }
  if (text === '') {
    const names = list.keys.map(({ name }) => `"${name}"`).join(' ');
    throw new UntypedItem(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `${text}}`;
}

/** The value of a key of an item, or its default. */
export function keyOf(item: unknown, key: ListKey): unknown {
  const value = typeof item === 'object' && item !== null ? (item as Record<string, unknown>)[key.name] : undefined;
  return value === undefined || typeof value === 'function' ? key.default : value;
}

/** Orders items by their keys without building path elements. */
export function compareItems(list: ListSchema, a: unknown, b: unknown): number {
  if (list.kind === 'set') return compareValues(a, b);
  for (const key of list.keys) {
    const left = keyOf(a, key);
    const right = keyOf(b, key);
    // Missing keys shift the others: such items are compared by path element.
    if (left === undefined || right === undefined) {
      if (left === right) continue;
      return compareElements(itemElement(list, a), itemElement(list, b));
    }
    const order = compareValues(left, right);
    if (order !== 0) return order;
  }
  return 0;
}

const kinds = 'fkvi';

/** A parsed path element, for repeated comparisons. */
export interface ReadElement {
  readonly element: PathElement;
  readonly kind: number;
  readonly value: unknown;
}

export function readElement(element: PathElement): ReadElement {
  const rest = element.slice(2);
  const kind = kinds.indexOf(element[0]!);
  if (kind === 0) return { element, kind, value: rest };
  if (kind === 3) return { element, kind, value: Number(rest) };
  const value = readJson(rest);
  return { element, kind, value: kind === 1 ? Object.entries(value ?? {}) : value };
}

/** Orders fields, then items by key, by value, by index; numbers by value. */
export function compareRead(a: ReadElement, b: ReadElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind;
  return a.kind === 1 ? compareKeys(a.value as Entry[], b.value as Entry[]) : compareValues(a.value, b.value);
}

export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  return a[0] === 'f' && b[0] === 'f' ? compareUtf8(a, b) : compareRead(readElement(a), readElement(b));
}

type Entry = readonly [name: string, value: unknown];

function compareKeys(left: readonly Entry[], right: readonly Entry[]): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order = compareUtf8(left[i]![0], right[i]![0]) || compareValues(left[i]![1], right[i]![1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Orders numbers, strings, booleans, lists, objects, null. */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareUtf8(a, b);
  const left = rank(a);
  const right = rank(b);
  if (left !== right) return left - right;
  if (left === 0) return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
  if (left === 2) return Number(a) - Number(b);
  if (left === 3) return compareLists(a as unknown[], b as unknown[]);
  if (left === 4) return compareKeys(sortedEntries(a), sortedEntries(b));
  return 0;
}

function rank(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return typeof value === 'object' && value !== null ? 4 : 5;
}

function compareLists(a: unknown[], b: unknown[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareValues(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function sortedEntries(value: unknown): Entry[] {
  return Object.entries(value as object).sort(([a], [b]) => compareUtf8(a, b));
}

/** The element in messages: `.spec`, `[name="x"]`, `[="x"]`, `[0]`. */
export function elementText(element: PathElement): string {
  const rest = element.slice(2);
  if (element[0] === 'f') return `.${rest}`;
  if (element[0] === 'i') return `[${rest}]`;
  if (element[0] === 'v') return `[=${scalarText(readJson(rest))}]`;
  const keys = Object.entries((readJson(rest) as object | undefined) ?? {});
  return `[${keys.map(([name, value]) => `${name}=${scalarText(value)}`).join(',')}]`;
}
