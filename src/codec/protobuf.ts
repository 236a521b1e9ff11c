import { DecodeError } from './decode-error.js';
import type { Decoded, Decoder } from './encodings.js';
import { decodeMessage } from './protobuf-decoder.js';
import { ProtobufReader, wireTypes } from './protobuf-reader.js';
import type { ProtobufSchema } from './protobuf-schema.js';

/**
 * Objects as protobuf: four bytes that say so, then an envelope that names the kind and holds the object's message.
 *   6b 38 73 00  Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: raw, 3: contentEncoding, 4: contentType }
 * Only the message of the kind says what its fields are called, so only kinds of the schema can be read.
 */
export const protobufPrefix = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export function protobufDecoder(mediaType: string, schema: () => ProtobufSchema): Decoder {
  let known: ProtobufSchema | undefined;
  return {
    name: 'protobuf',
    mediaType,
    decode(bytes): Decoded {
      return { value: decodeObject(asBuffer(bytes), (known ??= schema())), duplicates: [] };
    },
  };
}

function decodeObject(bytes: Buffer, schema: ProtobufSchema) {
  if (bytes.length === 0) throw new DecodeError('empty data');
  if (!bytes.subarray(0, protobufPrefix.length).equals(protobufPrefix)) {
    throw new DecodeError(
      `provided data does not appear to be a protobuf message, expected prefix [${protobufPrefix.join(' ')}]`,
    );
  }
  if (bytes.length === protobufPrefix.length) throw new DecodeError('empty body');
  const { apiVersion, kind, raw } = readEnvelope(new ProtobufReader(bytes, protobufPrefix.length));
  const message = schema.messageOf(apiVersion, kind);
  if (!message) throw new DecodeError(`no kind "${kind}" of version "${apiVersion}" can be read from protobuf`);
  return decodeMessage(new ProtobufReader(raw), message, { kind, apiVersion });
}

const nothing: Buffer = Buffer.alloc(0);

function readEnvelope(reader: ProtobufReader): { apiVersion: string; kind: string; raw: Buffer } {
  const envelope = { apiVersion: '', kind: '', raw: nothing };
  while (reader.next()) {
    if (reader.field > 4) reader.skip();
    else if (reader.wireType !== wireTypes.bytes) {
      throw new DecodeError(`proto: wrong wireType = ${reader.wireType} for field ${reader.field} of the envelope`);
    } else if (reader.field === 1) {
      const type = reader.message();
      while (type.next()) {
        if (type.field === 1 && type.wireType === wireTypes.bytes) envelope.apiVersion = type.text();
        else if (type.field === 2 && type.wireType === wireTypes.bytes) envelope.kind = type.text();
        else type.skip();
      }
    } else if (reader.field === 2) envelope.raw = reader.buffer();
    else reader.skip();
  }
  return envelope;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
