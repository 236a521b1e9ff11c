import { ProtobufWriter } from '../std/protobuf-writer.js';

/** A function as the profiler names it. */
export interface ProfiledFunction {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

/** Measured values of one call stack, innermost function first. */
export interface ProfiledStack {
  readonly frames: readonly ProfiledFunction[];
  /** One for each sample type. */
  readonly values: readonly number[];
}

export interface ProfileFacts {
  readonly sampleTypes: readonly (readonly [type: string, unit: string])[];
  readonly stacks: readonly ProfiledStack[];
  readonly timeMs: number;
  readonly durationMs: number;
}

/**
 * Encodes message Profile of pprof's profile.proto, for `go tool pprof`. Strings, functions and locations are referred
 * to by index; a function has one location.
 */
export function encodePprof({ sampleTypes, stacks, timeMs, durationMs }: ProfileFacts): Buffer {
  const texts = new Numbers<string>((text) => text);
  texts.of('');
  const functions = new Numbers<ProfiledFunction>(({ name, file, line }) => `${name}\n${file}\n${line}`);
  const writer = new ProtobufWriter();
  // From the last field to the first, as the writer requires; tables of indexed values fill up on the way.
  field(writer, 10, durationMs * 1e6);
  field(writer, 9, timeMs * 1e6);
  for (const { frames, values } of stacks) {
    part(writer, 2, () => {
      part(writer, 2, () => [...values].reverse().forEach((value) => writer.varint(value)));
      const places = frames.map((frame) => functions.of(frame) + 1);
      part(writer, 1, () => places.reverse().forEach((place) => writer.varint(place)));
    });
  }
  for (const [number, { name, file, line }] of functions.all.entries()) {
    part(writer, 5, () => {
      field(writer, 5, line);
      field(writer, 4, texts.of(file));
      field(writer, 2, texts.of(name));
      field(writer, 1, number + 1);
    });
    part(writer, 4, () => {
      part(writer, 4, () => {
        field(writer, 2, line);
        field(writer, 1, number + 1);
      });
      field(writer, 1, number + 1);
    });
  }
  for (const [type, unit] of [...sampleTypes].reverse()) {
    part(writer, 1, () => {
      field(writer, 2, texts.of(unit));
      field(writer, 1, texts.of(type));
    });
  }
  // The string table comes last in time: it is complete only here, and its order counts.
  for (const text of [...texts.all].reverse()) {
    part(writer, 6, () => writer.raw(Buffer.from(text)));
  }
  return writer.take();
}

/** Assigns indexes to values in the order in which they are first seen. */
class Numbers<T> {
  readonly all: T[] = [];
  private readonly known = new Map<string, number>();

  constructor(private readonly keyOf: (value: T) => string) {}

  of(value: T): number {
    const key = this.keyOf(value);
    let number = this.known.get(key);
    if (number === undefined) {
      number = this.all.push(value) - 1;
      this.known.set(key, number);
    }
    return number;
  }
}

function field(writer: ProtobufWriter, number: number, value: number): void {
  writer.varint(Math.max(0, Math.round(value)));
  writer.varint(number * 8);
}

function part(writer: ProtobufWriter, number: number, write: () => void): void {
  const end = writer.length;
  write();
  writer.lengthSince(end);
  writer.varint(number * 8 + 2);
}
