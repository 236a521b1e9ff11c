import { wireTypes } from '../std/protobuf-reader.js';
import { ProtobufWriter } from '../std/protobuf-writer.js';
import { encodeJson } from './json.js';

/**
 * Encodes OpenAPI documents as protobuf messages, by the field tables beside this file. A `Put` writes one field with
 * its tag; the writer works backwards, so fields are written last to first.
 */
export type Put = (writer: ProtobufWriter, number: number, value: unknown) => void;
type Fields = Readonly<Record<string, readonly [number: number, put: Put]>>;

type Properties = Readonly<Record<string, unknown>>;

export const text: Put = (writer, number, value) => {
  writer.string(String(value));
  writer.tag(number, wireTypes.bytes);
};

/** Omits false. */
export const flag: Put = (writer, number, value) => {
  if (value === true) boolean(writer, number, value);
};

export const boolean: Put = (writer, number, value) => {
  writer.boolean(value === true);
  writer.tag(number, wireTypes.varint);
};

export const integer: Put = (writer, number, value) => {
  writer.integer(Number(value));
  writer.tag(number, wireTypes.varint);
};

export const double: Put = (writer, number, value) => {
  writer.double(Number(value));
  writer.tag(number, wireTypes.fixed64);
};

/** Encodes any value as JSON, in a field that the message calls yaml. */
export const any: Put = (writer, number, value) =>
  nested(writer, number, () => text(writer, 2, encodeJson(value).toString()));

export function each(put: Put): Put {
  return (writer, number, value) => {
    const items = value as readonly unknown[];
    for (let i = items.length - 1; i >= 0; i--) put(writer, number, items[i]);
  };
}

/**
 * Encodes an object as a message with a field for each property; properties that begin with `x-` become pairs in field
 * `extensions`.
 */
export function message(fields: () => Fields, extensions = 0): Put {
  let table: Fields | undefined;
  return (writer, number, value) => {
    table ??= fields();
    const known = table;
    nested(writer, number, () => {
      for (const [name, part] of Object.entries(value as Properties).reverse()) {
        if (part === undefined) continue;
        if (extensions > 0 && name.startsWith('x-')) pair(writer, extensions, name, any, part);
        else if (Object.hasOwn(known, name)) known[name]![1](writer, known[name]![0], part);
      }
    });
  };
}

/** Encodes a map as pairs in field `pairs` of a message. */
export function map(put: Put, pairs = 1): Put {
  return (writer, number, value) =>
    nested(writer, number, () => {
      for (const [name, part] of Object.entries(value as Properties).reverse()) pair(writer, pairs, name, put, part);
    });
}

/** Encodes a oneof: a message with one of its fields set; empty if `choose` returns undefined. */
export function oneOf(choose: (value: unknown) => readonly [number: number, put: Put] | undefined): Put {
  return (writer, number, value) =>
    nested(writer, number, () => {
      const chosen = choose(value);
      chosen?.[1](writer, chosen[0], value);
    });
}

export const only = (put: Put): Put => oneOf(() => [1, put]);

export function isReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$ref' in value;
}

// Shared: encoding is synchronous.
const shared = new ProtobufWriter();

/** Returns the bytes of a message without its tag and length. */
export function encodeMessage(put: Put, value: unknown): Buffer {
  put(shared, 1, value);
  const bytes = shared.take();
  let at = 1;
  while (bytes[at]! >= 0x80) at++;
  return bytes.subarray(at + 1);
}

const pairsPerStep = 24;

/** Yields the bytes of `map` in batches, so that the caller can yield to the event loop. */
export function* encodePairs(
  put: Put,
  pairs: number,
  value: Readonly<Record<string, unknown>>,
): Generator<void, Buffer[]> {
  const entries = Object.entries(value);
  const chunks: Buffer[] = [];
  for (let at = 0; at < entries.length; at += pairsPerStep) {
    chunks.push(encodeMessage(map(put, pairs), Object.fromEntries(entries.slice(at, at + pairsPerStep))));
    yield;
  }
  return chunks;
}

/** A field with already encoded content. */
export function field(number: number, chunks: readonly Buffer[]): Buffer[] {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  shared.varint(length);
  shared.tag(number, wireTypes.bytes);
  return [shared.take(), ...chunks];
}

function pair(writer: ProtobufWriter, number: number, name: string, put: Put, value: unknown): void {
  nested(writer, number, () => {
    put(writer, 2, value);
    text(writer, 1, name);
  });
}

function nested(writer: ProtobufWriter, number: number, write: () => void): void {
  const end = writer.length;
  write();
  writer.lengthSince(end);
  writer.tag(number, wireTypes.bytes);
}
