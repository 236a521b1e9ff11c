import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import { wireTypes } from '../std/protobuf-reader.js';
import type { Content, Message, MessageField } from './protobuf-messages.js';
import type { ObjectReader } from './object-reader.js';
import { readSchemaOr, readSimple, zeroOf } from './protobuf-value-reader.js';

/**
 * Each message adds at most two levels of JSON. Half of the depth that json.ts allows is left to fields that are JSON.
 */
const depthMax = 200;

/** Limit on reported unknown fields. */
const unknownFieldsMax = 100;

/**
 * Decodes a message to the JSON object that the same client would have sent: zeros that JSON omits are left out, since
 * Go writes them in protobuf. Unknown fields are skipped, and recorded if the reader asks for it.
 */
export function decodeMessage(reader: ObjectReader, message: Message, object: JsonObject = {}): JsonObject {
  return readMessage(reader, message, object, 0);
}

function readMessage(reader: ObjectReader, message: Message, object: JsonObject, depth: number): JsonObject {
  if (depth > depthMax) throw new DecodeError('exceeded max depth');
  const { byNumber } = message;
  while (reader.next()) {
    const field = byNumber[reader.field];
    if (field === undefined) skipUnknown(reader, message);
    else if (field.isText && reader.wireType === wireTypes.bytes) {
      // Fast path: most fields are strings, and most of them empty.
      const text = reader.text();
      if (text !== '' || !field.omitsZero) {
        object[field.name] = text;
        reader.context.values.take();
      } else if (object[field.name] !== undefined) delete object[field.name];
    } else if (field.shape === 'one') readOne(reader, field, object, depth);
    else if (field.shape === 'list') {
      const items = (object[field.name] ??= []) as JsonValue[];
      const hasEntered = field.isManagedFields && reader.context.values.enterManagedFields();
      readItem(reader, field, items, depth);
      if (hasEntered) reader.context.values.leaveManagedFields();
    } else if (field.shape === 'map') readEntry(reader, field, object, depth);
    else {
      reader.expect(wireTypes.bytes, field.name);
      readWithin(reader, field.message!, object, depth);
    }
  }
  return object;
}

function skipUnknown(reader: ObjectReader, { struct }: Message): void {
  const { unknownFields } = reader.context;
  if (unknownFields && unknownFields.length < unknownFieldsMax) {
    unknownFields.push(`${struct.goName}: field ${reader.field}`);
  }
  reader.skip();
}

function readWithin(reader: ObjectReader, message: Message, object: JsonObject, depth: number): JsonObject {
  const outer = reader.enter();
  readMessage(reader, message, object, depth + 1);
  reader.leave(outer);
  return object;
}

function readOne(reader: ObjectReader, field: MessageField, object: JsonObject, depth: number): void {
  const { name, content } = field;
  // A message that occurs several times is merged.
  const value = readValue(reader, field, depth, content === 'message' ? object[name] : undefined);
  if (value !== undefined && !(field.omitsZero && isZero(value, content))) {
    object[name] = value;
    reader.context.values.take();
  }
  // The last occurrence of a field counts. Deleting an absent key would be slow.
  else if (object[name] !== undefined) delete object[name];
}

function readItem(reader: ObjectReader, field: MessageField, items: JsonValue[], depth: number): void {
  if (reader.wireType === wireTypes.bytes && field.wireType === wireTypes.varint) {
    const outer = reader.enter();
    while (!reader.isAtEnd) {
      reader.context.values.take();
      items.push(readSimple(reader, field.content)!);
    }
    reader.leave(outer);
  } else {
    reader.context.values.take();
    items.push(readValue(reader, field, depth) ?? null);
  }
}

/**
 * Reads a map entry: a message with the key in field 1 and the value in field 2, either of which may be omitted if
 * zero.
 */
function readEntry(reader: ObjectReader, field: MessageField, object: JsonObject, depth: number): void {
  reader.expect(wireTypes.bytes, field.name);
  reader.context.values.take();
  const outer = reader.enter();
  let key = '';
  let value: JsonValue | undefined;
  while (reader.next()) {
    if (reader.field === 1) {
      reader.expect(wireTypes.bytes, field.name);
      key = reader.text();
    } else if (reader.field === 2) value = readValue(reader, field, depth);
    else reader.skip();
  }
  reader.leave(outer);
  if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
  const map = (object[field.name] ??= {}) as JsonObject;
  map[key] = value ?? zeroOf(field.content);
}

function readValue(reader: ObjectReader, field: MessageField, depth: number, known?: JsonValue): JsonValue | undefined {
  const { content } = field;
  reader.expect(field.wireType, field.name);
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

function readListMessage(reader: ObjectReader, field: MessageField, depth: number): JsonValue[] {
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
