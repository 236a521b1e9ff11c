import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { compareUtf8 } from '../std/compare-utf8.js';
import { ProtobufWriter } from '../std/protobuf-writer.js';
import { EncodeError } from './encode-error.js';
import type { Absences, Message, MessageField } from './protobuf-messages.js';
import { writeSimple, writeZero } from './protobuf-value-writer.js';

/**
 * Encodes the message of a JSON object, without its length, as Go does: fields by number, maps sorted by key, and zeros
 * for absent fields that are not pointers. Only present fields are visited; the zeros between them are written as one
 * precomputed piece.
 */
export function encodeMessage(writer: ProtobufWriter, message: Message, object: JsonObject): void {
  const { descending, positions } = message;
  const { bytes, starts } = (message.absences ??= absencesOf(message));
  const present: number[] = [];
  for (const name in object) {
    const position = positions.get(name);
    if (position !== undefined) insert(present, position);
  }
  let next = 0;
  for (let i = 0; i < present.length; i++) {
    const position = present[i]!;
    const field = descending[position]!;
    const value = field.shape === 'inline' ? object : object[field.name];
    if (value === undefined || value === null) continue;
    writer.slice(bytes, starts[position]!, starts[next]!);
    writeField(writer, message, field, value);
    next = position + 1;
  }
  writer.slice(bytes, 0, starts[next]!);
}

/** Inserts a number into a short sorted list without duplicates. */
function insert(sorted: number[], number: number): void {
  let at = sorted.length;
  while (at > 0 && sorted[at - 1]! > number) at--;
  if (at > 0 && sorted[at - 1] === number) return;
  sorted.push(number);
  for (let i = sorted.length - 1; i > at; i--) sorted[i] = sorted[i - 1]!;
  sorted[at] = number;
}

function writeField(writer: ProtobufWriter, within: Message, field: MessageField, value: JsonValue): void {
  if (field.shape === 'list') writeItems(writer, within, field, value);
  else if (field.shape === 'map') writeEntries(writer, within, field, value);
  else writeOne(writer, within, field, value, field.tag);
}

function writeOne(writer: ProtobufWriter, within: Message, field: MessageField, value: JsonValue, tag: number): void {
  const { content } = field;
  if (content === 'string' && typeof value === 'string') writer.string(value);
  else if (content === 'message') {
    if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(within, field);
    const end = writer.length;
    encodeMessage(writer, field.message!, value as JsonObject);
    writer.lengthSince(end);
  } else if (content === 'listMessage') {
    const end = writer.length;
    writeItems(writer, within, field.items!, value);
    writer.lengthSince(end);
  } else if (content === 'schemaOrBool' || content === 'schemaOrArray' || content === 'schemaOrStrings') {
    writeSchemaOr(writer, within, field, value);
  } else if (!writeSimple(writer, content, value)) throw mismatch(within, field);
  writer.varint(tag);
}

function writeItems(writer: ProtobufWriter, within: Message, field: MessageField, value: JsonValue): void {
  if (!Array.isArray(value)) throw mismatch(within, field);
  for (let i = value.length - 1; i >= 0; i--) writeElement(writer, within, field, value[i], field.tag);
}

const keyTag = 8 + 2;

function writeEntries(writer: ProtobufWriter, within: Message, field: MessageField, value: JsonValue): void {
  if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(within, field);
  const map = value as JsonObject;
  const keys = sortedKeys(map);
  const valueTag = 2 * 8 + field.wireType;
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!;
    const end = writer.length;
    writeElement(writer, within, field, map[key], valueTag);
    writer.string(key);
    writer.varint(keyTag);
    writer.lengthSince(end);
    writer.varint(field.tag);
  }
}

function writeElement(
  writer: ProtobufWriter,
  within: Message,
  field: MessageField,
  value: JsonValue | undefined,
  tag: number,
): void {
  if (value !== undefined && value !== null) writeOne(writer, within, field, value, tag);
  // The value of a map entry may be nil, too.
  else if (field.shape !== 'map' || field.content !== 'bytes') writeNothing(writer, field, tag);
}

/**
 * Writes JSONSchemaPropsOrBool and the like: the schema is in field `schema`, its alternative in a field of its own.
 */
function writeSchemaOr(writer: ProtobufWriter, within: Message, field: MessageField, value: JsonValue): void {
  const { content } = field;
  const end = writer.length;
  if (content === 'schemaOrBool') {
    if (typeof value === 'object') writeSchema(writer, within, field, value, 2 * 8 + 2);
    else if (typeof value !== 'boolean') throw mismatch(within, field);
    writer.boolean(value !== false);
    writer.varint(8);
  } else if (Array.isArray(value)) {
    for (let i = value.length - 1; i >= 0; i--) {
      const item = value[i]!;
      if (content === 'schemaOrArray') writeSchema(writer, within, field, item, 2 * 8 + 2);
      else if (typeof item === 'string') {
        writer.string(item);
        writer.varint(2 * 8 + 2);
      } else throw mismatch(within, field);
    }
  } else {
    writeSchema(writer, within, field, value, 8 + 2);
  }
  writer.lengthSince(end);
}

function writeSchema(writer: ProtobufWriter, within: Message, field: MessageField, value: JsonValue, tag: number) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(within, field);
  const end = writer.length;
  encodeMessage(writer, field.message!, value);
  writer.lengthSince(end);
  writer.varint(tag);
}

/** Returns the bytes that Go writes for unset fields: nothing for what can be nil, else a zero. */
function absencesOf({ descending }: Message): Absences {
  const writer = new ProtobufWriter(256);
  const lengths = [0];
  for (const field of descending) {
    const canBeNil = field.isPointer || field.shape === 'list' || field.shape === 'map' || field.content === 'bytes';
    if (!canBeNil && field.content !== 'listMessage') writeNothing(writer, field, field.tag);
    lengths.push(writer.length);
  }
  return { bytes: writer.take(), starts: lengths.map((length) => lengths.at(-1)! - length) };
}

function writeNothing(writer: ProtobufWriter, field: MessageField, tag: number): void {
  if (field.content === 'message') {
    const end = writer.length;
    encodeMessage(writer, field.message!, {});
    writer.lengthSince(end);
  } else writeZero(writer, field.content);
  writer.varint(tag);
}

/** Sorts by bytes, as Go does: the same as by UTF-16 units except beyond the first plane. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  let isSorted = true;
  for (let i = 1; i < keys.length && isSorted; i++) isSorted = keys[i - 1]! < keys[i]!;
  if (!isSorted) keys.sort();
  if (keys.some((key) => /[\ud800-\udfff]/.test(key))) {
    keys.sort(compareUtf8);
  }
  return keys;
}

function mismatch({ struct }: Message, { name }: MessageField): EncodeError {
  return new EncodeError(`${struct.name} cannot be written as protobuf: ${name} holds a value of another type`);
}
