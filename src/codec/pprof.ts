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

interface ProfileFacts {
  readonly sampleTypes: readonly (readonly [type: string, unit: string])[];
  readonly stacks: readonly ProfiledStack[];
  readonly timeMs: number;
  readonly durationMs: number;
}

/** The fields of pprof's profile.proto that are used. */
const profileProto = `syntax = "proto3";
  message Profile {
    repeated ValueType sample_type = 1;
    repeated Sample sample = 2;
    repeated Location location = 4;
    repeated Function function = 5;
    repeated string string_table = 6;
    int64 time_nanos = 9;
    int64 duration_nanos = 10;
  }
  message ValueType { int64 type = 1; int64 unit = 2; }
  message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
  message Location { uint64 id = 1; repeated Line line = 4; }
  message Line { uint64 function_id = 1; int64 line = 2; }
  message Function { uint64 id = 1; int64 name = 2; int64 filename = 4; int64 start_line = 5; }`;

/**
 * Encodes message Profile, for `go tool pprof`. Strings, functions and locations are referred to by index; a function
 * has one location. Profiles are rare, so protobufjs is loaded for the first one.
 */
export async function encodePprof({ sampleTypes, stacks, timeMs, durationMs }: ProfileFacts): Promise<Buffer> {
  const { default: protobufjs } = await import('protobufjs');
  const texts = new Indexes<string>((text) => text);
  texts.of('');
  const functions = new Indexes<ProfiledFunction>(({ name, file, line }) => `${name}\n${file}\n${line}`);
  // In this order, since the tables of indexed values fill up on the way.
  const sampleType = sampleTypes.map(([type, unit]) => ({ type: texts.of(type), unit: texts.of(unit) }));
  const sample = stacks.map(({ frames, values }) => ({
    locationId: frames.map((frame) => functions.of(frame) + 1),
    value: values,
  }));
  const location = functions.all.map(({ line }, at) => ({ id: at + 1, line: [{ functionId: at + 1, line }] }));
  const functionTable = functions.all.map(({ name, file, line }, at) => ({
    id: at + 1,
    name: texts.of(name),
    filename: texts.of(file),
    startLine: line,
  }));
  const profile = { sampleType, sample, location, function: functionTable, stringTable: texts.all };
  const times = { timeNanos: timeMs * 1e6, durationNanos: durationMs * 1e6 };
  const message = protobufjs.parse(profileProto).root.lookupType('Profile');
  return Buffer.from(message.encode({ ...profile, ...times }).finish());
}

/** Assigns indexes to values in the order in which they are first seen. */
class Indexes<T> {
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
