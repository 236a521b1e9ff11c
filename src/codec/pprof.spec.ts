import protobufjs from 'protobufjs';
import { encodePprof } from './pprof.js';

/** The fields of pprof's profile.proto that we write. */
const { root } = protobufjs.parse(`syntax = "proto3";
  message ValueType { int64 type = 1; int64 unit = 2; }
  message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
  message Line { uint64 function_id = 1; int64 line = 2; }
  message Location { uint64 id = 1; repeated Line line = 4; }
  message Function { uint64 id = 1; int64 name = 2; int64 filename = 4; int64 start_line = 5; }
  message Profile {
    repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Location location = 4;
    repeated Function function = 5; repeated string string_table = 6; int64 time_nanos = 9; int64 duration_nanos = 10;
  }`);

interface Profile {
  sampleType: { type: number; unit: number }[];
  sample: { locationId: number[]; value: number[] }[];
  location: { id: number; line: { functionId: number; line: number }[] }[];
  function: { id: number; name: number; filename: number; startLine: number }[];
  stringTable: string[];
  timeNanos: number;
  durationNanos: number;
}

it('names functions, files and units by index', () => {
  const outer = { name: 'outer', file: '/a.js', line: 3 };
  const inner = { name: 'inner ä', file: '/b.js', line: 300 };
  const bytes = encodePprof({
    sampleTypes: [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ],
    stacks: [
      { frames: [inner, outer], values: [2, 2_000_000_000] },
      { frames: [outer], values: [1, 5] },
    ],
    ...{ timeMs: 1_700_000_000_000, durationMs: 250 },
  });
  const type = root.lookupType('Profile');
  const profile = type.toObject(type.decode(bytes), { longs: Number, arrays: true }) as Profile;
  const text = (at: number) => profile.stringTable[at];
  const functionOf = (id: number) => {
    const { line } = profile.location.find((location) => location.id === id)!;
    const found = profile.function.find((each) => each.id === line[0]!.functionId)!;
    return `${text(found.name)} ${text(found.filename)}:${line[0]!.line}`;
  };
  expect(profile.stringTable[0]).toBe('');
  expect(profile.sampleType.map(({ type: of, unit }) => [text(of), text(unit)])).toEqual([
    ['samples', 'count'],
    ['cpu', 'nanoseconds'],
  ]);
  const shown = profile.sample.map(({ locationId, value }) => [locationId.map(functionOf), value]);
  expect(shown).toContainEqual([
    ['inner ä /b.js:300', 'outer /a.js:3'],
    [2, 2_000_000_000],
  ]);
  expect(shown).toContainEqual([['outer /a.js:3'], [1, 5]]);
  expect(profile).toMatchObject({ timeNanos: 1_700_000_000_000 * 1e6, durationNanos: 250e6 });
});
