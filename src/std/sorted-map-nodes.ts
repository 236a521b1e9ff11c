import { compareUtf8 } from './compare-utf8.js';

export const leafMax = 64;
export const branchMax = 64;

export type Node<V> = Leaf<V> | Branch<V>;

export class Leaf<V> {
  constructor(
    public edition: number,
    public keys: string[],
    public values: V[],
    /** False in a copy made to replace a value, which shares the keys of the original. */
    public ownsKeys: boolean,
  ) {}
  get size(): number {
    return this.values.length;
  }
}

export class Branch<V> {
  constructor(
    public edition: number,
    public keys: string[],
    public children: Node<V>[],
    public size: number,
    public ownsKeys: boolean,
  ) {}
}

/** Returns the index of the first key that is not below `key`. */
export function lowerBound(keys: readonly string[], key: string, exact: boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = keys[middle]!;
    if (exact ? compareUtf8(other, key) < 0 : other < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the last child whose lowest key is not above `key`; the first child holds everything below the second. */
export function childAt(keys: readonly string[], key: string, exact: boolean): number {
  let low = 1;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = keys[middle]!;
    if (exact ? compareUtf8(other, key) <= 0 : other <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const width = <V>(node: Node<V>): number => node.keys.length;

export function lowestKey<V>(node: Node<V>, level: number): string {
  let lowest = node;
  for (; level > 0; level--) lowest = (lowest as Branch<V>).children[0]!;
  return lowest.keys[0]!;
}

export function sizeOf<V>(children: readonly Node<V>[]): number {
  let size = 0;
  for (const child of children) size += child.size;
  return size;
}

export function collect<V>(node: Node<V>, level: number, entries: [string, V][]): void {
  if (level > 0) return (node as Branch<V>).children.forEach((child) => collect(child, level - 1, entries));
  (node as Leaf<V>).keys.forEach((key, at) => entries.push([key, (node as Leaf<V>).values[at]!]));
}

/** Like Array.splice(), without allocating the returned array. */
export function insertAt<T>(array: T[], at: number, value: T): void {
  array.push(value);
  for (let i = array.length - 1; i > at; i--) array[i] = array[i - 1]!;
  array[at] = value;
}
