import { limitExceeded, spend } from '../work.js';
import type { ListValue, Value } from './value.js';
import { ListView } from './value.js';

/** Bounds far above those of values in a request; larger ones end the evaluation. */
const listElementsMax = 5_000_000;
export const textLengthMax = 50_000_000;

export function checkedLength(length: number, max: number): number {
  if (length > max) throw limitExceeded;
  return length;
}

/** A list that a comprehension builds. While it is open, `+` appends to it instead of copying. */
export class AccumulatorList extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
  isOpen = true;
}

export const isList = (value: Value): value is ListValue => Array.isArray(value) || value instanceof ListView;

export const listSize = (list: ListValue): number => (Array.isArray(list) ? list.length : (list as ListView).size);
export const listAt = (list: ListValue, index: number): Value =>
  Array.isArray(list) ? (list[index] as Value) : (list as ListView).at(index);

export const elementsOf = (list: ListValue): Iterable<Value> =>
  Array.isArray(list) ? (list as readonly Value[]) : readElements(list as ListView);

function* readElements(list: ListView): Generator<Value> {
  const { size } = list;
  for (let index = 0; index < size; index++) yield list.at(index);
}

/** The elements as an array, which is the list itself if it is one. */
export function listArray(list: ListValue): readonly Value[] {
  if (Array.isArray(list)) return list as readonly Value[];
  const elements: Value[] = [];
  const { size } = list as ListView;
  for (let index = 0; index < size; index++) elements.push((list as ListView).at(index));
  return elements;
}

export function concatenate(left: ListValue, right: ListValue): ListValue {
  if (left instanceof AccumulatorList && left.isOpen) {
    const size = listSize(right);
    spend(size);
    for (let index = 0; index < size; index++) left.push(listAt(right, index));
    return left;
  }
  const own = left instanceof ListView ? left.add(right) : undefined;
  if (own) return own;
  if (listSize(left) === 0) return right;
  if (listSize(right) === 0) return left;
  return new Concatenation(left, right);
}

/** Deeper concatenations are copied, which bounds the time to find an element. */
const depthMax = 250;

/** Two lists, one after the other, without a copy. */
class Concatenation extends ListView {
  override readonly size: number;
  private readonly depth: number;
  private flat: readonly Value[] | undefined;
  /** The list that the last element was read from, and the index of its first element. */
  private recent: ListValue = [];
  private recentStart = 0;

  constructor(
    private readonly left: ListValue,
    private readonly right: ListValue,
  ) {
    super();
    this.size = checkedLength(listSize(left) + listSize(right), listElementsMax);
    this.depth = 1 + Math.max(depthOf(left), depthOf(right));
    if (this.depth > depthMax) this.flat = this.flatten();
  }

  private flatten(): readonly Value[] {
    const flat: Value[] = [];
    spend(this.size);
    const pending: ListValue[] = [this];
    for (let list = pending.pop(); list; list = pending.pop()) {
      if (list instanceof Concatenation && !list.flat) {
        pending.push(list.right, list.left);
        continue;
      }
      const size = listSize(list);
      for (let index = 0; index < size; index++) flat.push(listAt(list, index));
    }
    return flat;
  }

  override at(index: number): Value {
    if (this.flat) return this.flat[index] as Value;
    const offset = index - this.recentStart;
    if (offset >= 0 && offset < listSize(this.recent)) return listAt(this.recent, offset);
    return this.find(index);
  }

  private find(index: number): Value {
    let [list, start] = this.half(index, 0);
    while (list instanceof Concatenation && !list.flat) {
      spend(1);
      [list, start] = list.half(index, start);
    }
    this.recent = list;
    this.recentStart = start;
    return listAt(list, index - start);
  }

  /** Returns the list that contains the element at `index`, if this one starts at `start`, and its own start. */
  private half(index: number, start: number): [list: ListValue, start: number] {
    const rightStart = start + listSize(this.left);
    return index < rightStart ? [this.left, start] : [this.right, rightStart];
  }

  static depth(list: ListValue): number {
    return list instanceof Concatenation && !list.flat ? list.depth : 0;
  }
}
function depthOf(list: ListValue): number {
  return Concatenation.depth(list);
}
