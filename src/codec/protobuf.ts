import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import type { TypeSource } from '../machinery/type-model.js';
import { DecodeError } from '../std/decode-error.js';
import { ProtobufReader, wireTypes, type ContentRange } from '../std/protobuf-reader.js';
import { ProtobufWriter } from '../std/protobuf-writer.js';
import { EncodeError } from './encode-error.js';
import type { Encoding, ListEncoding } from './encoding.js';
import { decodeMessage } from './protobuf-decoder.js';
import { encodeMessage } from './protobuf-encoder.js';
import { protobufPrefix, ProtobufKinds, type ProtobufKind } from './protobuf-kinds.js';
import { ValueBudget } from './value-budget.js';

/**
 * Protobuf encoding of objects: four magic bytes, then an envelope with the kind and the object's message.
 *   6b 38 73 00  Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: raw, 3: contentEncoding, 4: contentType }
 * Field names are not on the wire, so only kinds of the type source can be decoded and encoded.
 */
export function protobufEncoding(mediaType: string, types: () => TypeSource): Encoding {
  const kinds = new ProtobufKinds(types);
  return {
    name: 'protobuf',
    mediaType,
    streamMediaType: `${mediaType};stream=watch`,
    takesAnyKind: false,
    takesTables: false,
    decode: (bytes, options) => ({
      value: decodeObject(asBuffer(bytes), kinds, new ValueBudget(options?.valuesMax ?? Infinity)),
      duplicates: [],
    }),
    encode: (value) => encodeObject(value, kinds),
    list: listEncoding(kinds),
    frame: watchFrame,
  };
}

// Shared: encoding is synchronous.
const writer = new ProtobufWriter();

/** contentEncoding and contentType of the envelope: both empty, and written as Go does. */
const envelopeEnd = Buffer.from([0x1a, 0, 0x22, 0]);
const rawTag = 2 * 8 + 2;

function encodeObject(value: unknown, kinds: ProtobufKinds): Buffer {
  if (typeof value !== 'object' || value === null) throw new EncodeError('only objects are written as protobuf');
  const { message, head } = kindOf(value, kinds);
  writer.clear();
  writer.raw(envelopeEnd);
  encodeMessage(writer, message, value as JsonObject);
  writer.lengthSince(envelopeEnd.length);
  writer.varint(rawTag);
  writer.raw(head);
  return writer.take();
}

function kindOf(object: { apiVersion?: unknown; kind?: unknown }, kinds: ProtobufKinds): ProtobufKind {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new EncodeError('the object says no kind');
  const found = kinds.of(apiVersion, kind);
  if (!found) throw new EncodeError(`no kind "${kind}" of version "${apiVersion}" is written as protobuf`);
  return found;
}

/**
 * Assembles lists from encoded items: an item is field 2 of the list as the object is field 2 of its envelope, so the
 * bytes and their length are the same.
 */
function listEncoding(kinds: ProtobufKinds): ListEncoding {
  return {
    head(list, itemsLength) {
      const { message, head } = kindOf(list, kinds);
      writer.clear();
      encodeMessage(writer, message, { metadata: list.metadata });
      writer.varint(writer.length + itemsLength);
      writer.varint(rawTag);
      writer.raw(head);
      return writer.take();
    },
    separator: Buffer.alloc(0),
    itemStart: (bytes) => {
      const reader = new ProtobufReader(bytes, undefined, protobufPrefix.length);
      reader.next();
      reader.skip();
      return reader.position;
    },
    itemEnd: (bytes) => bytes.length - envelopeEnd.length,
    tail: () => envelopeEnd,
  };
}

/**
 * A watch frame: its length in four bytes, then WatchEvent { 1: type, 2: RawExtension { 1: the object in its envelope }
 * }.
 */
function watchFrame(type: string, object: Buffer): Buffer {
  writer.clear();
  writer.raw(object);
  writer.lengthSince(0);
  writer.varint(8 + 2);
  writer.lengthSince(0);
  writer.varint(rawTag);
  writer.string(type);
  writer.varint(8 + 2);
  writer.uint32BE(writer.length);
  return writer.take();
}

/** Stored objects in protobuf, kube-apiserver's default: the same bytes as on the wire. */
export class StoredProtobuf {
  private readonly kinds: ProtobufKinds;

  constructor(types: () => TypeSource) {
    this.kinds = new ProtobufKinds(types);
  }

  hasKind(apiVersion: string, kind: string): boolean {
    return this.kinds.of(apiVersion, kind) !== undefined;
  }

  /**
   * Throws DecodeError. `unknownFields` are the fields of the message that the kind does not have; the object is
   * without them.
   */
  decode(bytes: Buffer): { readonly object: JsonObject; readonly unknownFields: readonly string[] } {
    const unknownFields: string[] = [];
    return { object: decodeObject(bytes, this.kinds, new ValueBudget(Infinity), unknownFields), unknownFields };
  }

  encode(object: KubeObject): Buffer {
    return encodeObject(object, this.kinds);
  }
}

/** True if the bytes start with the magic bytes of protobuf. */
export const isProtobuf = (bytes: Buffer): boolean =>
  bytes.length >= protobufPrefix.length && protobufPrefix.every((byte, at) => bytes[at] === byte);

function decodeObject(bytes: Buffer, kinds: ProtobufKinds, values: ValueBudget, unknownFields?: string[]): JsonObject {
  if (bytes.length === 0) throw new DecodeError('empty data');
  if (!isProtobuf(bytes)) {
    throw new DecodeError(
      `provided data does not appear to be a protobuf message, expected prefix [${protobufPrefix.join(' ')}]`,
    );
  }
  if (bytes.length === protobufPrefix.length) throw new DecodeError('empty body');
  const { apiVersion, kind, raw } = readEnvelope(new ProtobufReader(bytes, undefined, protobufPrefix.length));
  const found = kinds.of(apiVersion, kind);
  if (!found)
    throw new DecodeError(`no kind ${shortQuote(kind)} of version ${shortQuote(apiVersion)} can be read from protobuf`);
  return decodeMessage(new ProtobufReader(raw, { values, unknownFields }), found.message, { kind, apiVersion });
}

/** Shortens names in envelopes, which may be long. */
const shortQuote = (text: string): string => `"${text.length > 100 ? `${text.slice(0, 100)}…` : text}"`;

const nothing: Buffer = Buffer.alloc(0);

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Buffer;
}

function readEnvelope(reader: ProtobufReader): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: nothing };
  // Reused: a view for each of a million occurrences would be slow.
  let raw: ContentRange | undefined;
  while (reader.next()) {
    if (reader.field > 4) reader.skip();
    else if (reader.wireType !== wireTypes.bytes) {
      throw new DecodeError(`proto: wrong wireType = ${reader.wireType} for field ${reader.field} of the envelope`);
    } else if (reader.field === 1) readTypeMeta(reader, envelope);
    else if (reader.field === 2) raw = reader.contentRange(raw);
    else reader.skip();
  }
  if (raw) envelope.raw = reader.view(raw);
  return envelope;
}

function readTypeMeta(reader: ProtobufReader, envelope: Envelope): void {
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === wireTypes.bytes) envelope.apiVersion = reader.text();
    else if (reader.field === 2 && reader.wireType === wireTypes.bytes) envelope.kind = reader.text();
    else reader.skip();
  }
  reader.leave(outer);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
