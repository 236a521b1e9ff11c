import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from './decode-error.js';
import { decodeJson } from './json.js';
import type { ProtobufReader } from './protobuf-reader.js';
import { wireTypes } from './protobuf-reader.js';
import type { Field, Message, SimpleType } from './protobuf-schema.js';

const depthMax = 100;

/**
 * A message as the JSON object it stands for. Go writes fields that are zero, and JSON leaves them out: what comes out
 * here is what the same client would have sent as JSON. Fields that nobody knows are passed over.
 */
export function decodeMessage(reader: ProtobufReader, message: Message, object: JsonObject = {}): JsonObject {
  return readMessage(reader, message, object, 0);
}

function readMessage(reader: ProtobufReader, message: Message, object: JsonObject, depth: number): JsonObject {
  if (depth > depthMax) throw new DecodeError('exceeded max depth');
  while (reader.next()) {
    const field = message.byNumber[reader.field];
    if (field === undefined) reader.skip();
    else if (field.shape === 'one') readOne(reader, field, object, depth);
    else if (field.shape === 'list') readItem(reader, field, object, depth);
    else if (field.shape === 'map') readEntry(reader, field, object, depth);
    else {
      expect(reader, wireTypes.bytes, field);
      readMessage(reader.message(), field.type as Message, object, depth + 1);
    }
  }
  return object;
}

function readOne(reader: ProtobufReader, field: Field, object: JsonObject, depth: number): void {
  const { name, type, presence } = field;
  if (typeof type === 'string') {
    const value = readSimple(reader, field, type);
    // Go's zero time is written as nothing, and is no time in any field.
    if (value === undefined || (presence === 'plain' && isZero(value))) delete object[name];
    else object[name] = value;
    return;
  }
  expect(reader, wireTypes.bytes, field);
  // A message in several pieces is their sum.
  const known = object[name];
  object[name] = readMessage(reader.message(), type, typeof known === 'object' ? (known as JsonObject) : {}, depth + 1);
}

function readItem(reader: ProtobufReader, field: Field, object: JsonObject, depth: number): void {
  const items = (object[field.name] ??= []) as JsonValue[];
  if (typeof field.type !== 'string') {
    expect(reader, wireTypes.bytes, field);
    items.push(readMessage(reader.message(), field.type, {}, depth + 1));
  } else if (reader.wireType === wireTypes.bytes && wireTypeOf(field.type) === wireTypes.varint) {
    const packed = reader.message();
    while (!packed.isAtEnd) items.push(readNumber(packed, field.type));
  } else {
    items.push(readSimple(reader, field, field.type) ?? null);
  }
}

/** Every entry is a message of its own: the key is 1, the value 2, and either may be left out when it is zero. */
function readEntry(reader: ProtobufReader, field: Field, object: JsonObject, depth: number): void {
  expect(reader, wireTypes.bytes, field);
  const entry = reader.message();
  let key = '';
  let value: JsonValue | undefined;
  while (entry.next()) {
    if (entry.field === 1) {
      expect(entry, wireTypes.bytes, field);
      key = entry.text();
    } else if (entry.field === 2) {
      if (typeof field.type === 'string') value = readSimple(entry, field, field.type);
      else {
        expect(entry, wireTypes.bytes, field);
        value = readMessage(entry.message(), field.type, {}, depth + 1);
      }
    } else entry.skip();
  }
  if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
  const map = (object[field.name] ??= {}) as JsonObject;
  map[key] = value ?? zeroOf(field.type);
}

function readSimple(reader: ProtobufReader, field: Field, type: SimpleType): JsonValue | undefined {
  expect(reader, wireTypeOf(type), field);
  switch (type) {
    case 'string':
      return reader.text();
    case 'bytes':
      return reader.buffer().toString('base64');
    case 'time':
    case 'microTime':
      return readTime(reader.message(), type);
    case 'rawJson':
      return readRawJson(reader.message());
    case 'quantity':
      return readQuantity(reader.message());
    case 'intOrString':
      return readIntOrString(reader.message());
    default:
      return readNumber(reader, type);
  }
}

function readNumber(reader: ProtobufReader, type: SimpleType): JsonValue {
  if (type === 'bool') return reader.boolean();
  // Large integers are bigints, as in JSON: see json.ts.
  return type === 'int32' ? reader.int32() : (reader.int64() as number);
}

// The years 1 to 9999, which are those that can be written.
const secondsMin = -62_135_596_800;
const secondsMax = 253_402_300_799;

function readTime(reader: ProtobufReader, type: 'time' | 'microTime'): string | undefined {
  let seconds: number | bigint = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.varint) seconds = reader.int64();
    else if (reader.field === 2 && reader.wireType === wireTypes.varint) nanos = reader.int32();
    else reader.skip();
  }
  if (seconds === 0 && nanos === 0) return undefined;
  if (typeof seconds !== 'number' || seconds < secondsMin || seconds > secondsMax) {
    throw new DecodeError(`a time of ${seconds} seconds is out of range`);
  }
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (type === 'time') return `${text}Z`;
  if (nanos < 0 || nanos > 999_999_999) throw new DecodeError(`a time of ${nanos} nanoseconds is out of range`);
  return `${text}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}

function readRawJson(reader: ProtobufReader): JsonValue | undefined {
  let value: JsonValue | undefined;
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.bytes) {
      const bytes = reader.buffer();
      value = bytes.length === 0 ? undefined : decodeJson(bytes);
    } else reader.skip();
  }
  return value;
}

function readQuantity(reader: ProtobufReader): string {
  let text = '';
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.bytes) text = reader.text();
    else reader.skip();
  }
  return text === '' ? '0' : text;
}

function readIntOrString(reader: ProtobufReader): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.varint) isText = reader.int64() === 1;
    else if (reader.field === 2 && reader.wireType === wireTypes.varint) number = reader.int32();
    else if (reader.field === 3 && reader.wireType === wireTypes.bytes) text = reader.text();
    else reader.skip();
  }
  return isText ? text : number;
}

function isZero(value: JsonValue): boolean {
  return value === '' || value === 0 || value === false;
}

function zeroOf(type: Field['type']): JsonValue {
  if (typeof type !== 'string') return {};
  if (type === 'bool') return false;
  if (type === 'int32' || type === 'int64' || type === 'intOrString') return 0;
  return type === 'quantity' ? '0' : type === 'string' || type === 'bytes' ? '' : null;
}

function wireTypeOf(type: SimpleType): number {
  return type === 'bool' || type === 'int32' || type === 'int64' ? wireTypes.varint : wireTypes.bytes;
}

function expect(reader: ProtobufReader, wireType: number, { name }: Field): void {
  if (reader.wireType === wireType) return;
  throw new DecodeError(`proto: wrong wireType = ${reader.wireType} for field ${name}`);
}
