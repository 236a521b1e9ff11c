import { CelType, listType, mapType, optionalType, types } from '../types.js';

/**
 * The values of CEL. Ordinary ones are JavaScript's own, so that JSON needs no copy:
 *
 *   bool → boolean     string → string     null → null     list → an array, or a ListView
 *   int → number, and bigint where a number is not exact (see `int`)
 */
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Double
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | Optional
  | CelType
  | CelError
  | OpaqueValue
  | MapValue
  | ListView
  | readonly Value[];

export class Double {
  constructor(readonly value: number) {}
}
export class Uint {
  constructor(readonly value: bigint) {}
}
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** An instant; `offsetSeconds` is the zone that it was written in, which only its text shows. */
export class Timestamp {
  constructor(
    readonly seconds: number,
    readonly nanos: number,
    readonly offsetSeconds = 0,
  ) {}
}

export class Optional {
  static readonly none = new Optional(undefined);
  constructor(readonly value: Value | undefined) {}
}

/** The failure of an evaluation. It is a value, since `&&` and `||` may outlive it. */
export class CelError {
  constructor(readonly message: string) {}
}

/** A value of a type that a library adds: a URL, a quantity. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  abstract equals(other: Value): Value;
  abstract toString(): string;
  /** The size that costs are computed from. */
  get size(): number {
    return 1;
  }
}

/** A list that is not an array of values: its elements are read from something else when they are needed. */
export abstract class ListView {
  abstract readonly size: number;
  abstract at(index: number): Value;
  /** True for a list that is not indexed with a uint or a double, even if it is whole. */
  get wantsIntIndex(): boolean {
    return false;
  }
  /** The concatenation; undefined to have a plain list of all elements. */
  add(_other: ListValue): ListValue | undefined {
    return undefined;
  }
  /** Equality of its own; undefined for that of lists. */
  equals(_other: Value): Value | undefined {
    return undefined;
  }
}
export type ListValue = readonly Value[] | ListView;

/** A map. Keys are strings, ints, uints and bools; a number finds the key that is equal to it, of whichever type. */
export abstract class MapValue {
  abstract readonly size: number;
  /** The value of the key; undefined if there is none, CelError if no such key can be. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
  /** Equality of its own; undefined for that of maps. */
  equals(_other: Value): Value | undefined {
    return undefined;
  }
}

export const noSuchOverload = new CelError('no such overload');

/** The error among the arguments of a call that has no overload for them, or that there is none. */
export const orNoSuchOverload = (value: Value): CelError => (value instanceof CelError ? value : noSuchOverload);

/** The type of a value, as `type(x)` tells it. */
export function typeOf(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return types.bool;
    case 'string':
      return types.string;
    case 'number':
    case 'bigint':
      return types.int;
  }
  if (value === null) return types.null;
  if (value instanceof Double) return types.double;
  if (Array.isArray(value) || value instanceof ListView) return listType;
  if (value instanceof MapValue) return mapType;
  if (value instanceof Uint) return types.uint;
  if (value instanceof Uint8Array) return types.bytes;
  if (value instanceof Timestamp) return types.timestamp;
  if (value instanceof Duration) return types.duration;
  if (value instanceof Optional) return optionalType;
  if (value instanceof OpaqueValue) return value.type;
  if (value instanceof CelType) return types.type;
  return types.error;
}
