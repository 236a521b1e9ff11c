import { CelType } from '../types.js';
import { spend } from '../work.js';
import { checkedLength, concatenate, isList, listAt, listSize, textLengthMax } from './lists.js';
import { isMap } from './maps.js';
import type { Int, Operator } from './numbers.js';
import {
  compareNumbers,
  doubleArithmetic,
  intArithmetic,
  isInt,
  negateInt,
  numeric,
  uintArithmetic,
} from './numbers.js';
import { codePointLength, compareBytes, isNarrow } from './texts.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import {
  addDurations,
  addToTimestamp,
  compareTimestamps,
  negateDuration,
  subtractDurations,
  subtractFromTimestamp,
  subtractTimestamps,
} from './time.js';
import type { ListValue, MapValue, Value } from './value.js';
import {
  CelError,
  Double,
  Duration,
  ListView,
  OpaqueValue,
  Optional,
  Timestamp,
  Uint,
  noSuchOverload,
  orNoSuchOverload,
} from './value.js';

/** The operators, on values of whichever type: the type of the left one decides. */
const noOperator = (operator: Operator): CelError => new CelError(`no such overload: _${operator}_`);

export function arithmetic(operator: Operator, left: Value, right: Value): Value {
  if (isInt(left)) return isInt(right) ? intArithmetic(operator, left, right) : orNoSuchOverload(right);
  if (left instanceof Double) {
    if (operator === '%') return noOperator(operator);
    return right instanceof Double ? doubleArithmetic(operator, left.value, right.value) : orNoSuchOverload(right);
  }
  if (left instanceof Uint)
    return right instanceof Uint ? uintArithmetic(operator, left.value, right.value) : orNoSuchOverload(right);
  if (operator === '+') return add(left, right);
  if (operator === '-') return subtract(left, right);
  return typeof left === 'string' || left instanceof Duration || left instanceof Timestamp
    ? noSuchOverload
    : noOperator(operator);
}

function add(left: Value, right: Value): Value {
  if (typeof left === 'string') return typeof right === 'string' ? join(left, right) : orNoSuchOverload(right);
  if (isList(left)) return isList(right) ? concatenate(left, right) : orNoSuchOverload(right);
  if (left instanceof Uint8Array) {
    if (!(right instanceof Uint8Array)) return orNoSuchOverload(right);
    const joined = new Uint8Array(left.length + right.length);
    joined.set(left);
    joined.set(right, left.length);
    return joined;
  }
  if (left instanceof Duration) {
    if (right instanceof Duration) return addDurations(left, right);
    return right instanceof Timestamp ? addToTimestamp(right, left.nanos) : orNoSuchOverload(right);
  }
  if (left instanceof Timestamp)
    return right instanceof Duration ? addToTimestamp(left, right.nanos) : orNoSuchOverload(right);
  return noOperator('+');
}

function join(left: string, right: string): string {
  checkedLength(left.length + right.length, textLengthMax);
  return left + right;
}

function subtract(left: Value, right: Value): Value {
  if (left instanceof Duration)
    return right instanceof Duration ? subtractDurations(left, right) : orNoSuchOverload(right);
  if (left instanceof Timestamp) {
    if (right instanceof Duration) return subtractFromTimestamp(left, right);
    return right instanceof Timestamp ? subtractTimestamps(left, right) : orNoSuchOverload(right);
  }
  return typeof left === 'string' ? noSuchOverload : noOperator('-');
}

export function negate(value: Value): Value {
  if (isInt(value)) return negateInt(value);
  if (value instanceof Double) return new Double(-value.value);
  if (value instanceof Duration) return negateDuration(value);
  if (typeof value === 'boolean') return noSuchOverload;
  return typeof value === 'string' || value instanceof Timestamp
    ? noSuchOverload
    : new CelError('no such overload: -_');
}

const notOrdered = new CelError('NaN values cannot be ordered');

/** -1, 0 or 1; undefined if values of the type have no order, CelError if these two have none. */
export function compare(left: Value, right: Value): -1 | 0 | 1 | CelError | undefined {
  if (numeric(left) !== undefined) {
    if (left instanceof Double && Number.isNaN(left.value)) return notOrdered;
    if (numeric(right) === undefined) return orNoSuchOverload(right);
    if (right instanceof Double && Number.isNaN(right.value)) return notOrdered;
    return compareNumbers(left, right);
  }
  if (typeof left === 'string') return typeof right === 'string' ? orderOf(left, right) : orNoSuchOverload(right);
  if (typeof left === 'boolean') {
    if (typeof right !== 'boolean') return orNoSuchOverload(right);
    return left === right ? 0 : left ? 1 : -1;
  }
  if (left instanceof Timestamp)
    return right instanceof Timestamp ? (compareTimestamps(left, right) as -1 | 0 | 1) : orNoSuchOverload(right);
  if (left instanceof Duration) {
    if (!(right instanceof Duration)) return orNoSuchOverload(right);
    return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
  }
  if (left instanceof Uint8Array)
    return right instanceof Uint8Array ? compareBytes(left, right) : orNoSuchOverload(right);
  return undefined;
}

function orderOf(left: string, right: string): -1 | 0 | 1 {
  const length = Math.min(left.length, right.length);
  if (left.length === right.length) spend(length / 100);
  if (left === right) return 0;
  if (length > 256 && isNarrow(left) && isNarrow(right)) {
    spend(length / 50);
    return left < right ? -1 : 1;
  }
  spend(length / 8);
  return Math.sign(compareUtf8(left, right)) as -1 | 0 | 1;
}

/** Returns true, false, or the error of values that cannot be compared. */
export function equal(left: Value, right: Value): Value {
  if (left === null || right === null) return left === right;
  switch (typeof left) {
    case 'string':
      // Strings of equal length are compared byte by byte, unless they are the same.
      if (left.length > 1000 && typeof right === 'string' && left.length === right.length) spend(left.length / 100);
      return left === right;
    case 'boolean':
      return left === right;
    case 'number':
      if (typeof right === 'number') return left === right;
  }
  if (numeric(left) !== undefined) return numeric(right) !== undefined && compareEqual(left, right);
  if (isList(left)) return equalLists(left, right);
  if (isMap(left)) return equalMaps(left, right);
  if (left instanceof Timestamp) return right instanceof Timestamp && compareTimestamps(left, right) === 0;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right) === 0;
  if (left instanceof CelType) return right instanceof CelType && left.name === right.name;
  if (left instanceof OpaqueValue) return left.equals(right);
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false;
    if (left.value === undefined || right.value === undefined) return left.value === right.value;
    return equal(left.value, right.value);
  }
  return orNoSuchOverload(left);
}

function compareEqual(left: Value, right: Value): boolean {
  if (left instanceof Double && Number.isNaN(left.value)) return false;
  if (right instanceof Double && Number.isNaN(right.value)) return false;
  return compareNumbers(left, right) === 0;
}

function equalLists(left: ListValue, right: Value): Value {
  const own = left instanceof ListView ? left.equals(right) : undefined;
  if (own !== undefined) return own;
  if (!isList(right)) return false;
  const size = listSize(left);
  if (size !== listSize(right)) return false;
  for (let index = 0; index < size; index++) {
    spend(4);
    const result = equal(listAt(left, index), listAt(right, index));
    if (result !== true) return result;
  }
  return true;
}

function equalMaps(left: MapValue, right: Value): Value {
  const own = left.equals(right);
  if (own !== undefined) return own;
  if (!isMap(right) || left.size !== right.size) return false;
  for (const key of left.keys()) {
    spend(10);
    const other = right.find(key);
    if (other === undefined) return false;
    const result = equal(left.find(key)!, other);
    if (result !== true) return result;
  }
  return true;
}

/** True if the container has the element or the key. */
export function isIn(element: Value, container: Value): Value {
  if (isList(container)) return listContains(container, element);
  if (isMap(container)) {
    const found = container.find(element);
    return found instanceof CelError ? found : found !== undefined;
  }
  return orNoSuchOverload(container);
}

export function listContains(list: ListValue, element: Value): Value {
  let error: CelError | undefined;
  const size = listSize(list);
  for (let index = 0; index < size; index++) {
    spend(3);
    const result = equal(listAt(list, index), element);
    if (result === true) return true;
    if (result instanceof CelError) error ??= result;
  }
  return error ?? false;
}

/** The result of size(); undefined if values of the type have none. */
export function sizeOf(value: Value): Int | undefined {
  if (typeof value === 'string') return codePointLength(value);
  if (isList(value)) return listSize(value);
  if (isMap(value)) return value.size;
  return value instanceof Uint8Array ? value.length : undefined;
}
