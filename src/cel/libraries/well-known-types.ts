import type { MessageType } from '../check/declarations.js';
import { JsonMap, JsonStruct } from '../declared/json-values.js';
import type { CelType } from '../types.js';
import { listOf, mapOf, structType, types, wrapperOf } from '../types.js';
import { elementsOf, isList } from '../values/lists.js';
import { BuiltMap, isMap } from '../values/maps.js';
import { int, int64Max, int64Min, isInt } from '../values/numbers.js';
import { isInTimestampRange, timestampOverflow } from '../values/time.js';
import { convert } from '../values/conversions.js';
import type { ListValue, MapValue, Value } from '../values/value.js';
import {
  CelError,
  Double,
  Duration,
  ListView,
  OpaqueValue,
  Optional,
  Timestamp,
  Uint,
  typeOf,
} from '../values/value.js';
import { spend, spendOnText } from '../work.js';
import type { Library } from './library.js';

/**
 * The messages of google.protobuf that expressions may write: `google.protobuf.Int32Value{value: 1}`. They are values of
 * CEL as soon as they are built: an int, a timestamp, a map. Only Empty has a type of its own.
 */
const { any, bool, bytes, double, duration, dyn, string, timestamp, uint } = types;
const intType = types.int;

/** Converts the value of a field, or says what is wrong with it. */
type Convert = (value: Value) => Value;

interface Field {
  readonly type: CelType;
  readonly convert: Convert;
}
type FieldTable = Readonly<Record<string, Field>>;

function message(
  name: string,
  type: CelType,
  fields: FieldTable,
  create: (fields: ReadonlyMap<string, Value>) => Value,
): MessageType {
  const fullName = `google.protobuf.${name}`;
  return {
    name: fullName,
    type,
    fields: new Map(Object.entries(fields).map(([field, { type: fieldType }]) => [field, fieldType])),
    create: (values) => {
      const converted = new Map<string, Value>();
      for (const [field, value] of values) {
        const result = fields[field]!.convert(value);
        if (result instanceof WrongContainer)
          return new CelError(`unsupported field type for ${fullName}.${field}: ${result.message}`);
        if (result instanceof CelError)
          return new CelError(`field type conversion error for ${fullName}.${field} value type: ${result.message}`);
        converted.set(field, result);
      }
      return create(converted);
    },
  };
}

/** A value that is no list for a repeated field, or no map for a map. */
class WrongContainer extends CelError {}

/** The names of Go's types, which its messages show. */
const goNames: Readonly<Record<string, string>> = {
  double: 'Double',
  bytes: 'Bytes',
  'google.protobuf.Timestamp': "'Timestamp'",
  'google.protobuf.Duration': "'Duration'",
  'google.protobuf.Empty': "'*dynamicpb.Message'",
  null_type: "'null_type'",
  'net.IP': "'IP'",
  'net.CIDR': "'CIDR'",
  'kubernetes.URL': "'URL'",
  'kubernetes.Quantity': "'Quantity'",
  'kubernetes.Semver': "'Semver'",
  'kubernetes.NamedFormat': "'Format'",
};

function conversionError(value: Value, target: string): CelError {
  if (isInt(value) || value instanceof Uint)
    return new CelError(`unsupported type conversion from '${typeOf(value).name}' to ${target}`);
  if (typeof value === 'string') return new CelError(`unsupported native conversion from string to '${target}'`);
  const { name, kind } = typeOf(value);
  if (kind === 'type') return new CelError("type conversion not supported for 'type'");
  return new CelError(`type conversion error from ${shownName(value, name)} to '${target}'`);
}

function shownName(value: Value, name: string): string {
  if (isDeclared(value)) return isList(value) ? "'list(dyn)'" : "'map(dyn, dyn)'";
  return goNames[name] ?? (value instanceof OpaqueValue ? `'${name}'` : name);
}

/** True for a list or map with a declared type, which the reference converts in no message. */
const isDeclared = (value: Value): boolean =>
  value instanceof JsonStruct ||
  (value instanceof JsonMap && value.isDeclared) ||
  (value instanceof ListView && value.wantsIntIndex);

const unwrapped =
  (convertValue: Convert): Convert =>
  (value) => {
    if (!(value instanceof Optional)) return convertValue(value);
    return value.value === undefined ? new CelError('optional.none() dereference') : convertValue(value.value);
  };

const intOf = (bits: 32 | 64, target: string): Convert =>
  unwrapped((value) => {
    if (!isInt(value)) return conversionError(value, target);
    const fits = bits === 64 || BigInt.asIntN(32, BigInt(value)) === BigInt(value);
    return fits ? value : new CelError('integer overflow');
  });

const uintOf = (bits: 32 | 64, target: string): Convert =>
  unwrapped((value) => {
    if (!(value instanceof Uint)) return conversionError(value, target);
    const fits = bits === 64 || BigInt.asUintN(32, value.value) === value.value;
    return fits ? value : new CelError('unsigned integer overflow');
  });

const doubleOf = (bits: 32 | 64, target: string): Convert =>
  unwrapped((value) => {
    if (!(value instanceof Double)) return conversionError(value, target);
    return bits === 64 ? value : new Double(Math.fround(value.value));
  });

const exactly = (type: CelType, target: string): Convert =>
  unwrapped((value) => (typeOf(value) === type ? value : conversionError(value, target)));

/** Texts, and the values of Kubernetes' libraries that are written as one. */
const asText: Convert = unwrapped((value) => {
  if (typeof value === 'string') return value;
  const isWritten =
    value instanceof OpaqueValue && /^(?:net\.|kubernetes\.(?:Quantity|URL|Semver)$)/.test(value.type.name);
  return isWritten ? value.toString() : conversionError(value, 'string');
});

const doubleExactMax = 2n ** 53n - 1n;
function jsonNumber(value: bigint): Value {
  const isExact = value >= -doubleExactMax && value <= doubleExactMax;
  return isExact ? new Double(Number(value)) : String(value);
}

/** The value that JSON keeps of another: an int becomes a double, a time a text. */
const asJson: Convert = unwrapped((value) => {
  spend(20);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || value instanceof Double)
    return value;
  if (isInt(value)) return jsonNumber(BigInt(value));
  if (value instanceof Uint) return jsonNumber(value.value);
  if (value instanceof Timestamp || value instanceof Duration) return convert(value, string);
  if (value instanceof Uint8Array) {
    spend(value.length / 10);
    return Buffer.from(value).toString('base64');
  }
  if (value instanceof EmptyMessage) return new BuiltMap();
  if (!isDeclared(value)) {
    if (isList(value)) return jsonList(value);
    if (isMap(value)) return jsonMap(value);
  }
  return conversionError(value, '*structpb.Value');
});

function jsonList(list: ListValue): Value {
  const converted: Value[] = [];
  for (const element of elementsOf(list)) {
    const result = asJson(element);
    if (result instanceof CelError) return result;
    converted.push(result);
  }
  return converted;
}

function jsonMap(map: MapValue): Value {
  const converted = new BuiltMap();
  for (const key of map.keys()) {
    const name = asText(key);
    if (name instanceof CelError) return name;
    if (typeof name === 'string') spendOnText(name, 0.1);
    const result = asJson(map.find(key)!);
    if (result instanceof CelError) return result;
    converted.set(name, result);
  }
  return converted;
}

function wrongContainer(value: Value): WrongContainer {
  const type = typeOf(value);
  return new WrongContainer(type.isOptional ? type.name : type.toString());
}
const repeated: Convert = (value) => (isList(value) ? jsonList(value) : wrongContainer(value));
const mapped: Convert = (value) => (isMap(value) ? jsonMap(value) : wrongContainer(value));
const nestedList: Convert = unwrapped((value) =>
  isList(value) && !isDeclared(value) ? jsonList(value) : conversionError(value, '*structpb.ListValue'),
);
const nestedStruct: Convert = unwrapped((value) =>
  isMap(value) && !isDeclared(value) ? jsonMap(value) : conversionError(value, '*structpb.Struct'),
);

class EmptyMessage extends OpaqueValue {
  readonly type = emptyType;
  equals(other: Value): Value {
    return other instanceof EmptyMessage;
  }
  toString(): string {
    return 'google.protobuf.Empty{}';
  }
}
const emptyType = structType('google.protobuf.Empty');

const wrapper = (name: string, type: CelType, zero: Value, convertValue: Convert): MessageType =>
  message(name, wrapperOf(type), { value: { type, convert: convertValue } }, (fields) => fields.get('value') ?? zero);

const timeFields: FieldTable = {
  seconds: { type: intType, convert: intOf(64, 'int64') },
  nanos: { type: intType, convert: intOf(32, 'int32') },
};
const second = 1_000_000_000n;
function totalNanos(fields: ReadonlyMap<string, Value>): bigint {
  const part = (name: string): bigint => BigInt((fields.get(name) ?? 0) as number | bigint);
  return part('seconds') * second + part('nanos');
}

function createTimestamp(fields: ReadonlyMap<string, Value>): Value {
  const total = totalNanos(fields);
  const nanos = BigInt.asUintN(64, ((total % second) + second) % second);
  const seconds = Number((total - nanos) / second);
  // The reference builds times beyond the year 9999, and refuses them in most functions.
  return isInTimestampRange(seconds) ? new Timestamp(seconds, Number(nanos)) : timestampOverflow;
}

function createDuration(fields: ReadonlyMap<string, Value>): Value {
  const total = totalNanos(fields);
  return new Duration(total > int64Max ? int64Max : total < int64Min ? int64Min : total);
}

const lastOf = (fields: ReadonlyMap<string, Value>): Value => [...fields.values()].at(-1) ?? null;

const messages: readonly MessageType[] = [
  wrapper('BoolValue', bool, false, exactly(bool, 'bool')),
  wrapper('BytesValue', bytes, new Uint8Array(), exactly(bytes, '[]uint8')),
  wrapper('DoubleValue', double, new Double(0), doubleOf(64, 'float64')),
  wrapper('FloatValue', double, new Double(0), doubleOf(32, 'float32')),
  wrapper('Int32Value', intType, 0, intOf(32, 'int32')),
  wrapper('Int64Value', intType, 0, intOf(64, 'int64')),
  wrapper('StringValue', string, '', asText),
  wrapper('UInt32Value', uint, new Uint(0n), uintOf(32, 'uint32')),
  wrapper('UInt64Value', uint, new Uint(0n), uintOf(64, 'uint64')),
  message('Timestamp', timestamp, timeFields, createTimestamp),
  message('Duration', duration, timeFields, createDuration),
  message('Empty', emptyType, {}, () => new EmptyMessage()),
  message(
    'ListValue',
    listOf(dyn),
    { values: { type: listOf(dyn), convert: repeated } },
    (fields) => fields.get('values') ?? [],
  ),
  message(
    'Struct',
    mapOf(string, dyn),
    { fields: { type: mapOf(string, dyn), convert: mapped } },
    (fields) => fields.get('fields') ?? new BuiltMap(),
  ),
  message(
    'Value',
    dyn,
    {
      null_value: {
        type: intType,
        convert: (value) => {
          const number = intOf(32, 'protoreflect.EnumNumber')(value);
          return number instanceof CelError ? number : null;
        },
      },
      number_value: { type: double, convert: doubleOf(64, 'float64') },
      string_value: { type: string, convert: asText },
      bool_value: { type: bool, convert: exactly(bool, 'bool') },
      struct_value: { type: mapOf(string, dyn), convert: nestedStruct },
      list_value: { type: listOf(dyn), convert: nestedList },
    },
    lastOf,
  ),
  message(
    'Any',
    any,
    {
      type_url: { type: string, convert: asText },
      value: { type: bytes, convert: exactly(bytes, '[]uint8') },
    },
    unpack,
  ),
];

/** Messages in bytes are not decoded: an expression that has them as a constant can write what they hold. */
function unpack(fields: ReadonlyMap<string, Value>): Value {
  const url = fields.get('type_url');
  const shown = typeof url === 'string' && url !== '' ? `type_url:"${url}"` : '';
  return new CelError(`unsupported conversion to ref.Val: (*dynamicpb.Message)${shown}`);
}

export const wellKnownTypesLibrary: Library = {
  name: 'messages of google.protobuf',
  messages,
  types: [emptyType],
  constants: { 'google.protobuf.NullValue.NULL_VALUE': int(0n) },
};
