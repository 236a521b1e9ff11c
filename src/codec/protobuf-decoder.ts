import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from './decode-error.js';
import type { Message, MessageField } from './protobuf-messages.js';
import { wireTypeOf } from './protobuf-messages.js';
import type { ProtobufReader } from './protobuf-reader.js';
import { wireTypes } from './protobuf-reader.js';
import { readSchemaOr, readSimple, zeroOf } from './protobuf-value-reader.js';

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
    else if (field.shape === 'list') readItem(reader, field, (object[field.name] ??= []) as JsonValue[], depth);
    else if (field.shape === 'map') readEntry(reader, field, object, depth);
    else {
      expect(reader, wireTypes.bytes, field);
      readMessage(reader.message(), field.message!, object, depth + 1);
    }
  }
  return object;
}

function readOne(reader: ProtobufReader, field: MessageField, object: JsonObject, depth: number): void {
  const { name, content } = field;
  // A message in several pieces is their sum.
  const value = readValue(reader, field, depth, content === 'message' ? object[name] : undefined);
  if (value === undefined || (field.omitsZero && isZero(value))) delete object[name];
  else object[name] = value;
}

function readItem(reader: ProtobufReader, field: MessageField, items: JsonValue[], depth: number): void {
  if (reader.wireType === wireTypes.bytes && wireTypeOf(field.content) === wireTypes.varint) {
    const packed = reader.message();
    while (!packed.isAtEnd) items.push(readSimple(packed, field.content)!);
  } else {
    items.push(readValue(reader, field, depth) ?? null);
  }
}

/** Every entry is a message of its own: the key is 1, the value 2, and either may be left out when it is zero. */
function readEntry(reader: ProtobufReader, field: MessageField, object: JsonObject, depth: number): void {
  expect(reader, wireTypes.bytes, field);
  const entry = reader.message();
  let key = '';
  let value: JsonValue | undefined;
  while (entry.next()) {
    if (entry.field === 1) {
      expect(entry, wireTypes.bytes, field);
      key = entry.text();
    } else if (entry.field === 2) value = readValue(entry, field, depth);
    else entry.skip();
  }
  if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
  const map = (object[field.name] ??= {}) as JsonObject;
  map[key] = value ?? zeroOf(field.content);
}

function readValue(
  reader: ProtobufReader,
  field: MessageField,
  depth: number,
  known?: JsonValue,
): JsonValue | undefined {
  const { content } = field;
  expect(reader, wireTypeOf(content), field);
  if (content === 'string') return reader.text();
  if (content === 'message') {
    const object = typeof known === 'object' ? (known as JsonObject) : {};
    return readMessage(reader.message(), field.message!, object, depth + 1);
  }
  if (content === 'listMessage') return readListMessage(reader.message(), field.items!, depth);
  if (content === 'schemaOrBool' || content === 'schemaOrArray' || content === 'schemaOrStrings') {
    const readSchema = (schema: ProtobufReader) => readMessage(schema, field.message!, {}, depth + 1);
    return readSchemaOr(reader.message(), content, readSchema);
  }
  return readSimple(reader, content);
}

function readListMessage(reader: ProtobufReader, field: MessageField, depth: number): JsonValue[] {
  const items: JsonValue[] = [];
  while (reader.next()) {
    if (reader.field === field.number) readItem(reader, field, items, depth + 1);
    else reader.skip();
  }
  return items;
}

function isZero(value: JsonValue): boolean {
  return value === '' || value === 0 || value === false;
}

function expect(reader: ProtobufReader, wireType: number, { name }: MessageField): void {
  if (reader.wireType === wireType) return;
  throw new DecodeError(`proto: wrong wireType = ${reader.wireType} for field ${name}`);
}
