import { DecodeError } from '../std/decode-error.js';
import { ProtobufReader, wireTypes } from '../std/protobuf-reader.js';
import { ProtobufWriter } from '../std/protobuf-writer.js';
import { MalformedMessageError } from './grpc-error.js';
import { frameHeaderBytes } from './message-frames.js';

/** Fields of messages. Readers refuse a field that has another wire type, and numbers above 2^53. */

/** Returns a writer that need not grow for a message of this size. */
export function writerFor(bytesExpected: number): ProtobufWriter {
  return new ProtobufWriter(bytesExpected + frameHeaderBytes + 8);
}

/** Returns the message after its gRPC header. */
export function framed(writer: ProtobufWriter): Buffer {
  writer.uint32BE(writer.length);
  writer.varint(0);
  return writer.view();
}

/** Leaves out 0, as proto3 does. */
export function writeNumber(writer: ProtobufWriter, field: number, value: number): void {
  if (value !== 0) writePresentNumber(writer, field, value);
}

/** Writes 0 too: in a oneof it selects the member. */
export function writePresentNumber(writer: ProtobufWriter, field: number, value: number): void {
  writer.varint(value);
  writer.tag(field, wireTypes.varint);
}

export function writeFlag(writer: ProtobufWriter, field: number, value: boolean): void {
  if (value) writePresentNumber(writer, field, 1);
}

export function writeBytes(writer: ProtobufWriter, field: number, value: Uint8Array): void {
  writer.content(value);
  writer.tag(field, wireTypes.bytes);
}

/** Ends a message that began when the writer had the length `end`. */
export function endMessage(writer: ProtobufWriter, field: number, end: number): void {
  writer.lengthSince(end);
  writer.tag(field, wireTypes.bytes);
}

/** Returns a decoder that throws MalformedMessageError. */
export function decoder<T>(read: (reader: ProtobufReader) => T): (bytes: Buffer) => T {
  return (bytes) => {
    try {
      return read(new ProtobufReader(bytes, undefined));
    } catch (error) {
      throw error instanceof DecodeError ? new MalformedMessageError(error.message) : error;
    }
  };
}

export function readNested<T>(reader: ProtobufReader, read: (reader: ProtobufReader) => T): T {
  reader.expect(wireTypes.bytes);
  const outer = reader.enter();
  const message = read(reader);
  reader.leave(outer);
  return message;
}

export function readNumber(reader: ProtobufReader): number {
  reader.expect(wireTypes.varint);
  return reader.safeInteger();
}

export const readFlag = (reader: ProtobufReader): boolean => readNumber(reader) !== 0;

export function readBytes(reader: ProtobufReader): Buffer {
  reader.expect(wireTypes.bytes);
  return reader.buffer();
}

export function readText(reader: ProtobufReader): string {
  reader.expect(wireTypes.bytes);
  return reader.text();
}
