import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import { wireTypes } from '../std/protobuf-reader.js';
import { decodeJson, inspect, jsonDepthMax } from './json.js';
import type { ObjectReader } from './object-reader.js';
import type { Content } from './protobuf-messages.js';
import { timeText } from './protobuf-time.js';

/** Reads a scalar. Returns undefined for no value. */
export function readSimple(reader: ObjectReader, content: Content): JsonValue | undefined {
  switch (content) {
    case 'string':
      return reader.text();
    case 'bool':
      return reader.boolean();
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.int64();
    case 'float64':
      return readDouble(reader);
    case 'bytes':
      return reader.buffer().toString('base64');
    case 'time':
    case 'microTime':
      return readTime(reader, content);
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      return readRawJson(reader);
    case 'quantity':
      return readQuantity(reader);
    case 'intOrString':
      return readIntOrString(reader);
    default:
      throw new DecodeError(`a ${content} has no form in protobuf`);
  }
}

/** Returns the zero of a map value or list item. */
export function zeroOf(content: Content): JsonValue {
  switch (content) {
    case 'string':
    case 'bytes':
      return '';
    case 'bool':
    case 'schemaOrBool':
      return false;
    case 'int32':
    case 'int64':
    case 'float64':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'message':
      return {};
    case 'listMessage':
    case 'schemaOrArray':
    case 'schemaOrStrings':
      return [];
    default:
      return null;
  }
}

/** Refuses NaN and infinities, which JSON does not have. */
function readDouble(reader: ObjectReader): number {
  const value = reader.double();
  if (!Number.isFinite(value)) throw new DecodeError(`${value} is no number in JSON`);
  return value;
}

function readTime(reader: ObjectReader, content: 'time' | 'microTime'): string | undefined {
  const outer = reader.enter();
  // Go encodes its zero time as an empty message, which means no time.
  const isZero = reader.isAtEnd;
  let seconds: number | bigint = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.varint) seconds = reader.int64();
    else if (reader.field === 2 && reader.wireType === wireTypes.varint) nanos = reader.int32();
    else reader.skip();
  }
  reader.leave(outer);
  return isZero ? undefined : timeText(seconds, nanos, content === 'microTime');
}

function readRawJson(reader: ObjectReader): JsonValue | undefined {
  const outer = reader.enter();
  let value: JsonValue | undefined;
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.bytes) {
      const bytes = reader.buffer();
      reader.context.values.takeJson(bytes);
      value = bytes.length === 0 ? undefined : decodeJson(bytes);
    } else reader.skip();
  }
  reader.leave(outer);
  // The levels around it count too: see protobuf-decoder.ts.
  inspect(value, jsonDepthMax / 2);
  return value;
}

function readQuantity(reader: ObjectReader): string {
  const outer = reader.enter();
  let text = '';
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.bytes) text = reader.text();
    else reader.skip();
  }
  reader.leave(outer);
  return text === '' ? '0' : text;
}

function readIntOrString(reader: ObjectReader): number | string {
  const outer = reader.enter();
  let isText = false;
  let number = 0;
  let text = '';
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.varint) isText = reader.int64() === 1;
    else if (reader.field === 2 && reader.wireType === wireTypes.varint) number = reader.int32();
    else if (reader.field === 3 && reader.wireType === wireTypes.bytes) text = reader.text();
    else reader.skip();
  }
  reader.leave(outer);
  return isText ? text : number;
}

/** Reads JSONSchemaPropsOrBool, JSONSchemaPropsOrArray or JSONSchemaPropsOrStringArray. */
export function readSchemaOr(reader: ObjectReader, content: Content, readSchema: () => JsonObject): JsonValue {
  const outer = reader.enter();
  let schema: JsonObject | undefined;
  let allows = false;
  const list: JsonValue[] = [];
  const schemaField = content === 'schemaOrBool' ? 2 : 1;
  while (reader.next()) {
    if (reader.field === schemaField && reader.wireType === wireTypes.bytes) schema = readSchema();
    else if (reader.field === 1 && reader.wireType === wireTypes.varint) allows = reader.boolean();
    else if (reader.field === 2 && reader.wireType === wireTypes.bytes) {
      reader.context.values.take();
      list.push(content === 'schemaOrArray' ? readSchema() : reader.text());
    } else reader.skip();
  }
  reader.leave(outer);
  return schema ?? (content === 'schemaOrBool' ? allows : list);
}
