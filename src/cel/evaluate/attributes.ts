import { display } from '../values/conversions.js';
import { isList, listAt, listSize } from '../values/lists.js';
import { isMap } from '../values/maps.js';
import { doubleToInt, int, isInt } from '../values/numbers.js';
import type { Value } from '../values/value.js';
import { CelError, Double, ListView, Optional, Uint, typeOf } from '../values/value.js';
import { spend } from '../work.js';
import type { Evaluate, Frame } from './frame.js';

/**
 * A variable, or the value of an expression, and what is selected from it: `self.list[0].name` is one attribute with
 * three qualifiers. It costs 1, and each qualifier 1. A conditional costs nothing itself: `(c ? a : b).x`.
 */
export type Attribute =
  | {
      readonly kind: 'root';
      readonly load: Evaluate;
      /** True if the value may be an optional, which selections look through. */
      readonly mayBeOptional: boolean;
      readonly qualifiers: readonly Qualifier[];
    }
  | {
      readonly kind: 'conditional';
      readonly condition: Evaluate;
      readonly truthy: Attribute;
      readonly falsy: Attribute;
    };

export interface Qualifier {
  /** The key, where it is known. */
  readonly constant?: Value;
  readonly key?: Evaluate;
  /** True for `.?` and `[?`. */
  readonly isOptional: boolean;
  /** True for the last one of has(). */
  readonly isTest?: boolean;
}

export function withQualifier(attribute: Attribute, qualifier: Qualifier): Attribute {
  if (attribute.kind === 'root') return { ...attribute, qualifiers: [...attribute.qualifiers, qualifier] };
  const { truthy, falsy } = attribute;
  return { ...attribute, truthy: withQualifier(truthy, qualifier), falsy: withQualifier(falsy, qualifier) };
}

/** Computes the attribute without its own cost. */
export function resolver(attribute: Attribute): Evaluate {
  if (attribute.kind === 'conditional') {
    const { condition } = attribute;
    const [truthy, falsy] = [resolver(attribute.truthy), resolver(attribute.falsy)];
    return (frame) => {
      spend(1);
      const value = condition(frame);
      if (value === true) return truthy(frame);
      if (value === false) return falsy(frame);
      return value instanceof CelError ? value : new CelError('no such overload');
    };
  }
  const { load, qualifiers, mayBeOptional } = attribute;
  if (qualifiers.length === 0) return load;
  if (mayBeOptional || qualifiers.some(({ isOptional }) => isOptional)) return optionalResolver(load, qualifiers);
  return qualifiers.reduce<Evaluate>(plainStep, load);
}

function plainStep(previous: Evaluate, qualifier: Qualifier): Evaluate {
  const { constant, key, isTest } = qualifier;
  if (constant === undefined)
    return (frame) => {
      const value = previous(frame);
      if (value instanceof CelError) return value;
      const index = key!(frame);
      frame.charge(1);
      return index instanceof CelError ? index : qualify(value, index);
    };
  if (isTest)
    return (frame) => {
      const value = previous(frame);
      if (value instanceof CelError) return value;
      frame.charge(1);
      const found = qualifyIfPresent(value, constant);
      return found instanceof CelError ? found : found !== undefined;
    };
  return (frame) => {
    const value = previous(frame);
    if (value instanceof CelError) return value;
    frame.charge(1);
    return qualify(value, constant);
  };
}

/** Selections from what may be an optional, or that make one: the result is an optional, too. */
function optionalResolver(load: Evaluate, qualifiers: readonly Qualifier[]): Evaluate {
  return (frame) => {
    let value = load(frame);
    if (value instanceof CelError) return value;
    let isOptional = false;
    if (value instanceof Optional) {
      if (value.value === undefined) return value;
      value = value.value;
      isOptional = true;
    }
    for (const qualifier of qualifiers) {
      isOptional ||= qualifier.isOptional;
      const key = qualifier.constant ?? keyOf(qualifier, frame);
      if (key instanceof CelError) {
        if (!isOptional) frame.charge(1);
        return key;
      }
      const found: Value | undefined =
        isOptional || qualifier.isTest ? qualifyIfPresent(value, key) : qualify(value, key);
      if (found !== undefined || !isOptional) frame.charge(1);
      if (found instanceof CelError) return found;
      if (isOptional && found === undefined) return Optional.none;
      value = qualifier.isTest ? (isOptional ? null : found !== undefined) : found!;
    }
    return isOptional ? new Optional(value) : value;
  };
}
function keyOf(qualifier: Qualifier, frame: Frame): Value {
  return qualifier.constant !== undefined ? qualifier.constant : qualifier.key!(frame);
}

/** The element, the entry or the field; CelError if there is none. */
function qualify(value: Value, key: Value): Value {
  const found = qualifyIfPresent(value, key);
  if (found !== undefined) return found;
  return isList(value) ? new CelError(`index out of bounds: ${display(key)}`) : missingKey(key);
}
const missingKey = (key: Value): CelError => new CelError(`no such key: ${display(key)}`);

/** The same, but undefined if there is none. */
function qualifyIfPresent(value: Value, key: Value): Value | undefined {
  if (isMap(value)) return value.find(key);
  if (!isList(value)) return value instanceof CelError ? value : undefined;
  const index = indexOf(key);
  if (index instanceof CelError) return index;
  if (index < 0 || index >= listSize(value)) return undefined;
  if (!isInt(key) && value instanceof ListView && value.wantsIntIndex)
    return new CelError(`unsupported index: ${display(key)}`);
  return listAt(value, index);
}

function indexOf(key: Value): number | CelError {
  if (isInt(key)) return Number(key);
  if (key instanceof Uint) return Number(key.value);
  if (!(key instanceof Double)) return new CelError(`unsupported index type '${typeOf(key).name}' in list`);
  const whole = doubleToInt(key.value);
  if (whole instanceof CelError || Number(whole) !== key.value)
    return new CelError(`unsupported index value ${display(key)} in list`);
  return Number(int(BigInt(whole)));
}
