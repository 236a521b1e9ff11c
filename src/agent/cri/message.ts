import {
  decoder,
  endMessage,
  framed,
  readBytes,
  readFlag,
  readNested,
  readText,
  writeBytes,
  writeFlag,
  writerFor,
} from '../../grpc/fields.js';
import { wireTypes, type ProtobufReader } from '../../std/protobuf-reader.js';
import type { ProtobufWriter } from '../../std/protobuf-writer.js';

/** A field of a message: its number, its value if it is absent, and how it is read and written. */
interface Field<T> {
  readonly number: number;
  readonly absent: () => T;
  /** Returns the value with that of another occurrence of the field; repeated fields occur several times. */
  readonly read: (reader: ProtobufReader, before: T) => T;
  readonly write: (writer: ProtobufWriter, number: number, value: T) => void;
}

// The type of a field of any value: parameters of its functions are not compared.
interface AnyField extends Pick<Field<unknown>, 'number' | 'absent'> {
  read(reader: ProtobufReader, before: unknown): unknown;
  write(writer: ProtobufWriter, number: number, value: unknown): void;
}

/** A message as an object with all of its fields. */
export interface Message<T> {
  readonly read: (reader: ProtobufReader) => T;
  readonly write: (writer: ProtobufWriter, value: Partial<T>) => void;
  readonly decode: (bytes: Buffer) => T;
  /** Returns the message after its gRPC header. */
  readonly encode: (value: Partial<T>) => Buffer;
}

export type Decoded<M> = M extends Message<infer T> ? T : never;
type Values<F> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never };

export function message<F extends Readonly<Record<string, AnyField>>>(fields: F): Message<Values<F>> {
  const entries = Object.entries(fields);
  const byNumber = new Map(entries.map(([name, field]) => [field.number, { name, field }]));
  const read = (reader: ProtobufReader): Values<F> => {
    const value: Record<string, unknown> = {};
    for (const [name, { absent }] of entries) value[name] = absent();
    while (reader.next()) {
      const known = byNumber.get(reader.field);
      if (known) value[known.name] = known.field.read(reader, value[known.name]);
      else reader.skip();
    }
    return value as Values<F>;
  };
  // From the last field to the first, since the writer writes backwards.
  const reversed = [...entries].reverse();
  const write = (writer: ProtobufWriter, value: Partial<Values<F>>) => {
    for (const [name, field] of reversed) {
      if (value[name] !== undefined) field.write(writer, field.number, value[name]);
    }
  };
  const encode = (value: Partial<Values<F>>) => {
    const writer = writerFor(256);
    write(writer, value);
    return framed(writer);
  };
  return { read, write, decode: decoder(read), encode };
}

export const text = (number: number): Field<string> => ({
  number,
  absent: () => '',
  read: readText,
  write: writeText,
});

/** Numbers beyond 2^53 are rounded: times in nanoseconds, and counters of bytes and nanoseconds. */
export const whole = (number: number): Field<number> => ({
  number,
  absent: () => 0,
  read: readWhole,
  write: writeWhole,
});

export const flag = (number: number): Field<boolean> => ({
  number,
  absent: () => false,
  read: readFlag,
  write: writeFlag,
});

export const bytes = (number: number): Field<Buffer> => ({
  number,
  absent: () => Buffer.alloc(0),
  read: readBytes,
  write: writeBytes,
});

export const texts = (number: number): Field<readonly string[]> => list(number, readText, writeText);

/** Packed and single numbers. */
export const wholes = (number: number): Field<readonly number[]> => ({
  number,
  absent: () => [],
  read: (reader, before) => {
    if (reader.wireType !== wireTypes.bytes) return [...before, readWhole(reader)];
    const more: number[] = [];
    const outer = reader.enter();
    while (!reader.isAtEnd) more.push(Number(reader.int64()));
    reader.leave(outer);
    return [...before, ...more];
  },
  write: (writer, field, values) => {
    for (const value of [...values].reverse()) {
      writer.integer(value);
      writer.tag(field, wireTypes.varint);
    }
  },
});

/** A map, of which names such as __proto__ are entries like others. */
export const textMap = (number: number): Field<ReadonlyMap<string, string>> => ({
  number,
  absent: () => new Map(),
  read: (reader, before) => {
    const { key, value } = readNested(reader, mapEntry.read);
    return (before as Map<string, string>).set(key, value);
  },
  write: (writer, field, values) => {
    for (const [key, value] of values) writeNested(writer, field, mapEntry, { key, value });
  },
});

export const one = <T>(number: number, of: Message<T>): Field<T | undefined> => ({
  number,
  absent: () => undefined,
  read: (reader) => readNested(reader, of.read),
  write: (writer, field, value) => {
    if (value !== undefined) writeNested(writer, field, of, value);
  },
});

export const many = <T>(number: number, of: Message<T>): Field<readonly T[]> =>
  list(
    number,
    (reader) => readNested(reader, of.read),
    (writer, field, value) => writeNested(writer, field, of, value),
  );

function list<T>(
  number: number,
  read: (reader: ProtobufReader) => T,
  write: (writer: ProtobufWriter, field: number, value: T) => void,
): Field<readonly T[]> {
  return {
    number,
    absent: () => [],
    read: (reader, before) => {
      (before as T[]).push(read(reader));
      return before;
    },
    write: (writer, field, values) => {
      for (const value of [...values].reverse()) write(writer, field, value);
    },
  };
}

function writeNested<T>(writer: ProtobufWriter, field: number, of: Message<T>, value: Partial<T>): void {
  const end = writer.length;
  of.write(writer, value);
  endMessage(writer, field, end);
}

function readWhole(reader: ProtobufReader): number {
  reader.expect(wireTypes.varint);
  return Number(reader.int64());
}

function writeWhole(writer: ProtobufWriter, field: number, value: number): void {
  if (value === 0) return;
  writer.integer(value);
  writer.tag(field, wireTypes.varint);
}

function writeText(writer: ProtobufWriter, field: number, value: string): void {
  writeBytes(writer, field, Buffer.from(value));
}

const mapEntry = message({ key: text(1), value: text(2) });
