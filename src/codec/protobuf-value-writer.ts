import type { JsonValue } from '../machinery/kube-object.js';
import { wireTypes } from '../std/protobuf-reader.js';
import type { ProtobufWriter } from '../std/protobuf-writer.js';
import { stringifyJson } from './json.js';
import type { Content } from './protobuf-messages.js';
import { secondsOf, microsecondsOf, zeroTimeSeconds } from './protobuf-time.js';

/** Writes a scalar without its tag. Returns false if the value has a wrong type. */
export function writeSimple(writer: ProtobufWriter, content: Content, value: JsonValue): boolean {
  switch (content) {
    case 'string':
      if (typeof value !== 'string') return false;
      writer.string(value);
      return true;
    case 'bool':
      if (typeof value !== 'boolean') return false;
      writer.boolean(value);
      return true;
    case 'int32':
    case 'int64':
      if (!isWhole(value)) return false;
      writer.integer(value);
      return true;
    case 'float64':
      if (typeof value !== 'number' && !isWhole(value)) return false;
      writer.double(Number(value));
      return true;
    case 'bytes':
      if (typeof value !== 'string') return false;
      writer.base64(value);
      return true;
    case 'time':
    case 'microTime':
      return typeof value === 'string' && writeTime(writer, value, content);
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number') return false;
      writeMessageOf(writer, () => writeTagged(writer, 1, String(value)));
      return true;
    case 'intOrString':
      return writeIntOrString(writer, value);
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      writeMessageOf(writer, () => writeTagged(writer, 1, stringifyJson(value)));
      return true;
    default:
      return false;
  }
}

/** Writes the zero that Go writes for an unset value. */
export function writeZero(writer: ProtobufWriter, content: Content): void {
  if (content === 'float64') writer.double(0);
  else if (content === 'quantity') writeSimple(writer, content, '0');
  else if (content === 'intOrString') writeSimple(writer, content, 0);
  else if (content === 'schemaOrBool') writeMessageOf(writer, () => writeNumber(writer, 1, 0));
  // Empty bytes, or the number 0.
  else writer.varint(0);
}

function writeTime(writer: ProtobufWriter, text: string, content: 'time' | 'microTime'): boolean {
  const seconds = secondsOf(text);
  if (seconds === undefined) return false;
  const nanos = content === 'time' ? 0 : microsecondsOf(text) * 1000;
  writeMessageOf(writer, () => {
    if (seconds === zeroTimeSeconds && nanos === 0) return;
    writeNumber(writer, 2, nanos);
    writeNumber(writer, 1, seconds);
  });
  return true;
}

function writeIntOrString(writer: ProtobufWriter, value: JsonValue): boolean {
  const isText = typeof value === 'string';
  if (!isText && !isWhole(value)) return false;
  const end = writer.length;
  writeTagged(writer, 3, isText ? value : '');
  writeNumber(writer, 2, isText ? 0 : value);
  writeNumber(writer, 1, isText ? 1 : 0);
  writer.lengthSince(end);
  return true;
}

function writeMessageOf(writer: ProtobufWriter, write: () => void): void {
  const end = writer.length;
  write();
  writer.lengthSince(end);
}

function writeTagged(writer: ProtobufWriter, number: number, text: string): void {
  writer.string(text);
  writer.tag(number, wireTypes.bytes);
}

function writeNumber(writer: ProtobufWriter, number: number, value: number | bigint): void {
  writer.integer(value);
  writer.tag(number, wireTypes.varint);
}

function isWhole(value: JsonValue): value is number {
  return typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint';
}
