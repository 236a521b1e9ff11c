import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from './decode-error.js';
import type { Content, Message, MessageField } from './protobuf-messages.js';
import type { ProtobufReader } from './protobuf-reader.js';
import { wireTypes } from './protobuf-reader.js';
import { readSchemaOr, readSimple, zeroOf } from './protobuf-value-reader.js';

/**
 * Each message adds at most two levels of JSON. Half of the depth that json.ts allows is left to fields that are JSON.
 */
const depthMax = 200;

/**
 * Decodes a message to the JSON object that the same client would have sent: zeros that JSON omits are left out, since
 * Go writes them in protobuf. Unknown fields are skipped, and recorded if the reader asks for it.
 */
export function decodeMessage(reader: ProtobufReader, message: Message, object: JsonObject = {}): JsonObject {
  return readMessage(reader, message, object, 0);
}

function readMessage(reader: ProtobufReader, message: Message, object: JsonObject, depth: number): JsonObject {
  if (depth > depthMax) throw new DecodeError('exceeded max depth');
  const { byNumber } = message;
  while (reader.next()) {
    const field = byNumber[reader.field];
    if (field === undefined) reader.skipUnknown(message.struct.goName);
    else if (field.isText && reader.wireType === wireTypes.bytes) {
      // Fast path: most fields are strings, and most of them empty.
      const text = reader.text();
      if (text !== '' || !field.omitsZero) {
        object[field.name] = text;
        reader.values.take();
      } else if (object[field.name] !== undefined) delete object[field.name];
    } else if (field.shape === 'one') readOne(reader, field, object, depth);
    else if (field.shape === 'list') {
      const items = (object[field.name] ??= []) as JsonValue[];
      const hasEntered = field.isManagedFields && reader.values.enterManagedFields();
      readItem(reader, field, items, depth);
      if (hasEntered) reader.values.leaveManagedFields();
    } else if (field.shape === 'map') readEntry(reader, field, object, depth);
    else {
      expect(reader, wireTypes.bytes, field);
      readWithin(reader, field.message!, object, depth);
    }
  }
  return object;
}

function readWithin(reader: ProtobufReader, message: Message, object: JsonObject, depth: number): JsonObject {
  const outer = reader.enter();
  readMessage(reader, message, object, depth + 1);
  reader.leave(outer);
  return object;
}

function readOne(reader: ProtobufReader, field: MessageField, object: JsonObject, depth: number): void {
  const { name, content } = field;
  // A message that occurs several times is merged.
  const value = readValue(reader, field, depth, content === 'message' ? object[name] : undefined);
  if (value !== undefined && !(field.omitsZero && isZero(value, content))) {
    object[name] = value;
    reader.values.take();
  }
  // The last occurrence of a field counts. Deleting an absent key would be slow.
  else if (object[name] !== undefined) delete object[name];
}

function readItem(reader: ProtobufReader, field: MessageField, items: JsonValue[], depth: number): void {
  if (reader.wireType === wireTypes.bytes && field.wireType === wireTypes.varint) {
    const outer = reader.enter();
    while (!reader.isAtEnd) {
      reader.values.take();
      items.push(readSimple(reader, field.content)!);
    }
    reader.leave(outer);
  } else {
    reader.values.take();
    items.push(readValue(reader, field, depth) ?? null);
  }
}

/**
 * Reads a map entry: a message with the key in field 1 and the value in field 2, either of which may be omitted if
 * zero.
 */
function readEntry(reader: ProtobufReader, field: MessageField, object: JsonObject, depth: number): void {
  expect(reader, wireTypes.bytes, field);
  reader.values.take();
  const outer = reader.enter();
  let key = '';
  let value: JsonValue | undefined;
  while (reader.next()) {
    if (reader.field === 1) {
      expect(reader, wireTypes.bytes, field);
      key = reader.text();
    } else if (reader.field === 2) value = readValue(reader, field, depth);
    else reader.skip();
  }
  reader.leave(outer);
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
  expect(reader, field.wireType, field);
  if (content === 'string') return reader.text();
  if (content === 'message') {
    const object = typeof known === 'object' ? (known as JsonObject) : {};
    return readWithin(reader, field.message!, object, depth);
  }
  if (content === 'listMessage') return readListMessage(reader, field.items!, depth);
  if (content === 'schemaOrBool' || content === 'schemaOrArray' || content === 'schemaOrStrings') {
    return readSchemaOr(reader, content, () => readWithin(reader, field.message!, {}, depth));
  }
  return readSimple(reader, content);
}

function readListMessage(reader: ProtobufReader, field: MessageField, depth: number): JsonValue[] {
  const items: JsonValue[] = [];
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.field === field.number) readItem(reader, field, items, depth + 1);
    else reader.skip();
  }
  reader.leave(outer);
  return items;
}

function isZero(value: JsonValue, content: Content): boolean {
  return value === 0 || value === false || (value === '' && content !== 'intOrString');
}

function expect(reader: ProtobufReader, wireType: number, { name }: MessageField): void {
  if (reader.wireType === wireType) return;
  throw new DecodeError(`proto: wrong wireType = ${reader.wireType} for field ${name}`);
}
