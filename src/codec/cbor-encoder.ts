import { int64Max, int64Min } from '../machinery/int64.js';
import type { FieldType } from '../machinery/type-model.js';
import { compareUtf8 } from '../std/compare-utf8.js';
import { majorTypes, type CborWriter } from './cbor-writer.js';
import { EncodeError } from './encode-error.js';

const simple = { false: 20, true: 21, null: 22 } as const;
/** Tag for byte strings that are base64 in JSON. */
const laterBase64 = 22;

type Type = FieldType | undefined;

/**
 * Encodes a JSON value in the CBOR profile of Kubernetes: strings and keys are byte strings, keys are sorted by their
 * encoded bytes, numbers take the fewest bytes. If the type is known, it tells which strings are base64 of bytes, and
 * which numbers are floats even without a fraction.
 */
export function encodeCborValue(writer: CborWriter, value: unknown, type: Type): void {
  switch (typeof value) {
    case 'string':
      writeText(writer, value, type);
      return;
    case 'number':
      writeNumber(writer, value, type);
      return;
    case 'boolean':
      writer.simple(value ? simple.true : simple.false);
      return;
    case 'bigint':
      if (value < int64Min || value > int64Max) throw new EncodeError(`${value} has more than 64 bits`);
      writer.integer(value);
      return;
    case 'object':
      if (value === null) writer.simple(simple.null);
      else if (Array.isArray(value)) writeArray(writer, value, type);
      else writeMap(writer, value as Record<string, unknown>, type);
      return;
    case 'undefined':
      writer.simple(simple.null);
      return;
    default:
      throw new EncodeError(`a ${typeof value} is no JSON`);
  }
}

function writeText(writer: CborWriter, text: string, type: Type): void {
  if (type?.form !== 'scalar' || type.scalar !== 'bytes') {
    writer.string(text);
    return;
  }
  writer.head(majorTypes.tag, laterBase64);
  writer.byteString(Buffer.from(text, 'base64'));
}

function writeNumber(writer: CborWriter, value: number, type: Type): void {
  const isFloat = type?.form === 'scalar' && type.scalar === 'float64';
  if (!isFloat && Number.isSafeInteger(value) && !Object.is(value, -0)) writer.integer(value);
  else if (Number.isFinite(value)) writer.float(value);
  else throw new EncodeError(`${value} is no number in JSON`);
}

function writeArray(writer: CborWriter, items: readonly unknown[], type: Type): void {
  const of = type?.form === 'list' ? type.of : undefined;
  writer.head(majorTypes.array, items.length);
  for (const item of items) encodeCborValue(writer, item, of);
}

function writeMap(writer: CborWriter, map: Record<string, unknown>, type: Type): void {
  const keys = sortedKeys(map);
  const fields = type?.form === 'struct' ? type.byName : undefined;
  const of = type?.form === 'map' ? type.of : undefined;
  writer.head(majorTypes.map, keys.length);
  for (const key of keys) {
    writer.string(key);
    encodeCborValue(writer, map[key], fields ? fields.get(key)?.type : of);
  }
}

/** Sorts keys by their encoded bytes, in which the length comes first. */
function sortedKeys(map: Record<string, unknown>): string[] {
  const keys: string[] = [];
  let isPlain = true;
  for (const key in map) {
    if (map[key] === undefined) continue;
    isPlain &&= isAscii(key);
    // Insertion sort: most maps are small.
    let at = keys.length;
    if (isPlain && at < smallMapMax) while (at > 0 && byLength(keys[at - 1]!, key) > 0) at--;
    keys.push(key);
    for (let i = keys.length - 1; i > at; i--) keys[i] = keys[i - 1]!;
    keys[at] = key;
  }
  if (!isPlain) return keys.sort(byBytes);
  return keys.length > smallMapMax ? keys.sort(byLength) : keys;
}

const smallMapMax = 16;

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

function byLength(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function byBytes(a: string, b: string): number {
  return Buffer.byteLength(a) - Buffer.byteLength(b) || compareUtf8(a, b);
}
