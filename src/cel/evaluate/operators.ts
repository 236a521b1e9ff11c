import type { CallCost } from '../cost/costs.js';
import { display } from '../values/conversions.js';
import { isList, listArray } from '../values/lists.js';
import { BuiltMap } from '../values/maps.js';
import { isInt } from '../values/numbers.js';
import { equal } from '../values/operations.js';
import type { Value } from '../values/value.js';
import { CelError, Double, Optional, Uint, noSuchOverload } from '../values/value.js';
import { spend } from '../work.js';
import type { Evaluate } from './frame.js';

export function isKey(value: Value): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    isInt(value) ||
    value instanceof Uint ||
    value instanceof Double
  );
}

/** `&&` (absorbed by false) and `||` (absorbed by true): an error counts only if no term decides. */
export function logical(left: Evaluate, right: Evaluate, absorbing: boolean): Evaluate {
  return (frame) => {
    spend(1);
    const a = left(frame);
    if (a === absorbing) return absorbing;
    const b = right(frame);
    if (b === absorbing) return absorbing;
    if (typeof a !== 'boolean') return a instanceof CelError ? a : noSuchOverload;
    if (typeof b !== 'boolean') return b instanceof CelError ? b : noSuchOverload;
    return !absorbing;
  };
}

export function equality(left: Evaluate, right: Evaluate, isEqual: boolean, cost: CallCost | undefined): Evaluate {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.charge(typeof a === 'number' && typeof b === 'number' ? 1 : cost!([a, b], null));
    if (a instanceof CelError) return a;
    if (b instanceof CelError) return b;
    return isEqual ? equal(a, b) : equal(a, b) !== true;
  };
}

export function orElse(left: Evaluate, right: Evaluate, unwraps: boolean): Evaluate {
  return (frame) => {
    const value = left(frame);
    if (!(value instanceof Optional)) return value;
    if (value.value === undefined) return right(frame);
    return unwraps ? value.value : value;
  };
}

/** `x in [1, 2]`: a look into a set, which costs nothing. undefined if the list holds other than simple values. */
export function constantMembership(
  element: Evaluate,
  list: Value,
): { readonly evaluate: Evaluate; readonly constant?: Value } | undefined {
  if (!isList(list)) return undefined;
  const elements = listArray(list);
  if (elements.length === 0) return { evaluate: () => false, constant: false };
  if (!elements.every(isKey)) return undefined;
  const set = new BuiltMap();
  for (const value of elements) set.set(value, true);
  const evaluate: Evaluate = (frame) => {
    spend(1);
    const value = element(frame);
    return value instanceof CelError ? value : set.find(value) !== undefined;
  };
  return { evaluate };
}

export function setEntry(map: BuiltMap, key: Value, value: Value, isOptional: boolean): CelError | undefined {
  if (!isOptional) map.set(key, value);
  else if (!(value instanceof Optional)) return notOptional(display(key), value);
  else if (value.value === undefined) map.delete(key);
  else map.set(key, value.value);
  return undefined;
}
export const notOptional = (field: string, value: Value): CelError =>
  new CelError(`cannot initialize optional entry '${field}' from non-optional value ${display(value)}`);
