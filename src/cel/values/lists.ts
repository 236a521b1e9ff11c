import type { ListValue, Value } from './value.js';
import { ListView } from './value.js';

/** No list of a request has as many elements, and no text as many characters: longer ones end an evaluation. */
export const listElementsMax = 5_000_000;
export const textLengthMax = 50_000_000;

/** Thrown for a value that would take more space or time than an evaluation can cost. */
export const tooLarge = new Error('operation cancelled: actual cost limit exceeded');

export function checkedLength(length: number, max: number): number {
  if (length > max) throw tooLarge;
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

export function* elementsOf(list: ListValue): Generator<Value> {
  const size = listSize(list);
  for (let index = 0; index < size; index++) yield listAt(list, index);
}

/** The elements as an array, which is the list itself if it is one. */
export const listArray = (list: ListValue): readonly Value[] =>
  Array.isArray(list) ? (list as Value[]) : Array.from(elementsOf(list));

export function concatenate(left: ListValue, right: ListValue): ListValue {
  if (left instanceof AccumulatorList && left.isOpen) {
    const size = listSize(right);
    for (let index = 0; index < size; index++) left.push(listAt(right, index));
    return left;
  }
  const own = left instanceof ListView ? left.add(right) : undefined;
  if (own) return own;
  if (listSize(left) === 0) return right;
  if (listSize(right) === 0) return left;
  return new Concatenation(left, right);
}

/** Reading an element goes through as many lists at most. */
const depthMax = 250;

/** Two lists, one after the other, without a copy. Deep ones are flattened, so that reading never recurses far. */
class Concatenation extends ListView {
  override readonly size: number;
  private readonly depth: number;
  private flat: readonly Value[] | undefined;

  constructor(
    private readonly left: ListValue,
    private readonly right: ListValue,
  ) {
    super();
    this.size = checkedLength(listSize(left) + listSize(right), listElementsMax);
    this.depth = 1 + Math.max(depthOf(left), depthOf(right));
    if (this.depth > depthMax) this.flat = this.flatten();
  }

  /** The elements of all lists that this one is made of. */
  private flatten(): readonly Value[] {
    const flat: Value[] = [];
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
    const size = listSize(this.left);
    return index < size ? listAt(this.left, index) : listAt(this.right, index - size);
  }

  static depth(list: ListValue): number {
    return list instanceof Concatenation && !list.flat ? list.depth : 0;
  }
}
function depthOf(list: ListValue): number {
  return Concatenation.depth(list);
}
