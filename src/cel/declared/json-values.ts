import { CelType } from '../types.js';
import { isList, elementsOf, listSize } from '../values/lists.js';
import { int } from '../values/numbers.js';
import { equal } from '../values/operations.js';
import type { ListValue, Value } from '../values/value.js';
import {
  CelError,
  Double,
  Duration,
  ListView,
  MapValue,
  OpaqueValue,
  Optional,
  Timestamp,
  Uint,
  noSuchOverload,
  orNoSuchOverload,
} from '../values/value.js';
import { recallSize, rememberSize, spend, spendOnKey } from '../work.js';
import type { DeclaredType } from './declared-type.js';
import { escapeName, unescapeName } from './escaping.js';

/** Plain JSON as values of CEL, read in place. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };

const valueTypes = [
  CelType,
  CelError,
  Double,
  Uint,
  Timestamp,
  Duration,
  Optional,
  OpaqueValue,
  ListView,
  MapValue,
  Uint8Array,
];
function isValue(raw: object): raw is Exclude<Value, null | boolean | string | number | bigint> {
  const prototype: unknown = Object.getPrototypeOf(raw);
  if (prototype === Object.prototype || prototype === null) return false;
  return valueTypes.some((type) => raw instanceof type);
}

/** The value of JSON without a declared type: a number without a fraction is an int. */
export function fromJson(raw: unknown): Value {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw;
    case 'number':
      if (Number.isSafeInteger(raw)) return raw;
      return Number.isInteger(raw) && Math.abs(raw) < 2 ** 63 ? int(BigInt(raw)) : new Double(raw);
    case 'bigint':
      return int(raw);
    case 'object':
      if (raw === null) return null;
      if (Array.isArray(raw)) return new JsonList(raw as Json[], undefined);
      return isValue(raw) ? raw : new JsonMap(raw as JsonObject, undefined);
    default:
      return new CelError(`unsupported conversion to ref.Val: (${typeof raw})`);
  }
}

/** The value of a variable that is declared with a type of CEL. */
export function fromNative(raw: unknown, type: CelType | undefined): Value {
  if (typeof raw === 'number') {
    if (type?.kind === 'double') return new Double(raw);
    if (type?.kind === 'uint') return new Uint(BigInt(raw));
    return Number.isSafeInteger(raw) ? raw : fromJson(raw);
  }
  if (Array.isArray(raw) && (raw.length === 0 || typeof raw[0] === 'string' || typeof raw[0] === 'boolean'))
    return raw as Value[];
  return fromJson(raw);
}

type JsonObject = Readonly<Record<string, Json>>;

/** Returns the names of the fields, which takes time for objects with many. */
function namesOf(raw: JsonObject): string[] {
  const names = Object.keys(raw);
  spend(5 + names.length * 8);
  return names;
}
const rememberedCountMin = 32;
function countOf(raw: JsonObject): number {
  const known = recallSize(raw);
  if (known !== undefined) return known;
  const { length } = namesOf(raw);
  return length < rememberedCountMin ? length : rememberSize(raw, length);
}

/** The JSON behind a value, for comparisons of lists that are sets or maps. */
function toRaw(value: Value): unknown {
  if (value instanceof JsonList || value instanceof JsonMap || value instanceof JsonStruct) return value.raw;
  return value instanceof Double ? value.value : value;
}

/** A list of JSON; `elements` is undefined for one without a declared type. */
export class JsonList extends ListView {
  constructor(
    readonly raw: readonly Json[],
    protected readonly elements: DeclaredType | undefined,
  ) {
    super();
  }
  override get size(): number {
    return this.raw.length;
  }
  override at(index: number): Value {
    return this.elements ? this.elements.read(this.raw[index]) : fromJson(this.raw[index]);
  }
  override get wantsIntIndex(): boolean {
    return this.elements !== undefined;
  }
  override equals(other: Value): Value | undefined {
    return this.elements && !isList(other) ? orNoSuchOverload(other) : undefined;
  }
}

/** A list with x-kubernetes-list-type: set, whose order does not count. */
export class JsonSet extends JsonList {
  /** Counts the work of a set of the elements, and of looking up `count` elements in all. */
  private spendOnElements(count: number): void {
    spend(count * 10);
    for (const element of this.raw) spendOnKey(element, count);
  }
  override equals(other: Value): Value {
    if (!isList(other)) return orNoSuchOverload(other);
    if (other.constructor === JsonSet && (other as JsonSet).raw === this.raw) return true;
    if (listSize(other) !== this.size) return false;
    this.spendOnElements(this.size);
    const own = new Set<unknown>(this.raw);
    for (const element of elementsOf(other)) if (!own.has(toRaw(element))) return false;
    return true;
  }
  override add(other: ListValue): ListValue {
    this.spendOnElements(this.size + listSize(other));
    const all = new Set<unknown>(this.raw);
    const joined = [...this.raw];
    for (const element of elementsOf(other)) {
      const raw = toRaw(element);
      if (all.has(raw)) continue;
      all.add(raw);
      joined.push(raw as Json);
    }
    return new JsonSet(joined, this.elements);
  }
}

/** A list with x-kubernetes-list-type: map, whose elements are found by some of their fields. */
export class JsonKeyedList extends JsonList {
  constructor(
    raw: readonly Json[],
    elements: DeclaredType,
    private readonly keys: readonly string[],
  ) {
    super(raw, elements);
  }

  private keyOf(element: unknown): string | undefined {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) return undefined;
    const object = element as JsonObject;
    const key = this.keys
      .map((name) => object[escapeName(name) ?? name])
      .map((value) => `${typeof value}:${String(value as string)}`)
      .join('\u0000');
    spendOnKey(key, this.size);
    return key;
  }

  override equals(other: Value): Value {
    if (!isList(other)) return orNoSuchOverload(other);
    if (listSize(other) !== this.size) return false;
    spend(this.size * 30);
    const own = new Map(this.raw.map((element) => [this.keyOf(element), element]));
    for (const element of elementsOf(other)) {
      const key = this.keyOf(toRaw(element));
      if (key === undefined || !own.has(key)) return false;
      const result = equal(this.elements!.read(own.get(key)), element);
      if (result !== true) return result;
    }
    return true;
  }

  override add(other: ListValue): ListValue {
    spend((this.size + listSize(other)) * 30);
    const joined = [...this.raw];
    const places = new Map(joined.map((element, index) => [this.keyOf(element), index]));
    for (const element of elementsOf(other)) {
      const raw = toRaw(element) as Json;
      const place = places.get(this.keyOf(raw));
      if (place === undefined) joined.push(raw);
      else joined[place] = raw;
    }
    return new JsonKeyedList(joined, this.elements!, this.keys);
  }
}

/** An object of JSON as a map; `values` is undefined for one without a declared type. */
export class JsonMap extends MapValue {
  constructor(
    readonly raw: JsonObject,
    private readonly values: DeclaredType | undefined,
  ) {
    super();
  }
  get isDeclared(): boolean {
    return this.values !== undefined;
  }
  override get size(): number {
    return countOf(this.raw);
  }
  override keys(): Iterable<Value> {
    return namesOf(this.raw);
  }
  override find(key: Value): Value | undefined {
    if (typeof key !== 'string') return this.values ? orNoSuchOverload(key) : undefined;
    spendOnKey(key, 100);
    if (!Object.hasOwn(this.raw, key)) return undefined;
    return this.values ? this.values.read(this.raw[key]) : fromJson(this.raw[key]);
  }
  override equals(other: Value): Value | undefined {
    return this.values && !(other instanceof MapValue) ? orNoSuchOverload(other) : undefined;
  }
}

/** An object of JSON with declared fields. A field that is null is as if it were not there. */
export class JsonStruct extends MapValue {
  constructor(
    readonly raw: JsonObject,
    private readonly fields: ReadonlyMap<string, DeclaredType>,
  ) {
    super();
  }
  override get size(): number {
    return countOf(this.raw);
  }
  override *keys(): Iterable<Value> {
    for (const name of namesOf(this.raw)) {
      const escaped = this.isPlainField(name) ? name : escapeName(name);
      if (escaped !== undefined && this.fields.has(escaped)) yield escaped;
    }
  }
  override find(key: Value): Value | undefined {
    if (typeof key !== 'string') return orNoSuchOverload(key);
    const field = this.fields.get(key);
    const name = this.isPlainField(key) ? key : unescapeName(key);
    if (name === undefined) return undefined;
    const raw = Object.hasOwn(this.raw, name) ? this.raw[name] : undefined;
    if (raw === undefined || raw === null) return undefined;
    return (field ?? this.fields.get(escapeName(name) ?? ''))?.read(raw);
  }
  override equals(other: Value): Value {
    if (!(other instanceof MapValue)) return orNoSuchOverload(other);
    const names = namesOf(this.raw);
    if (names.length !== other.size) return false;
    for (const name of names) {
      spend(20);
      const isField = this.isPlainField(name) || this.fields.has(escapeName(name) ?? '');
      const result = isField ? this.equalField(name, other) : this.equalUnknown(name, other);
      if (result !== true) return result;
    }
    return true;
  }
  /** True for a declared field whose name needs no escape. */
  private isPlainField(name: string): boolean {
    return this.fields.has(name) && !name.includes('__');
  }
  private equalField(name: string, other: MapValue): Value {
    const [own, theirs] = [this.find(name), other.find(name)];
    if (own === undefined || theirs === undefined) return own === theirs;
    return equal(own, theirs);
  }
  private equalUnknown(name: string, other: MapValue): Value {
    if (!(other instanceof JsonStruct)) return noSuchOverload;
    return !Object.hasOwn(other.raw, name) || equalJson(this.raw[name]!, other.raw[name]!);
  }
}

/** True if two values of JSON are the same. */
function equalJson(left: Json, right: Json): boolean {
  return equal(fromJson(left), fromJson(right)) === true;
}
