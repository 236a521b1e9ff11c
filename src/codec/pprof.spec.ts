import { ProtobufReader, wireTypes } from '../std/protobuf-reader.js';
import { encodePprof } from './pprof.js';

type Content = number | Buffer;
/** The values of each field by its number. */
type Fields = ReadonlyMap<number, readonly Content[]>;

/** Reads the fields of a message by our own reader, which knows nothing of profile.proto. */
function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, Content[]>();
  const reader = new ProtobufReader(bytes, undefined);
  while (reader.next()) {
    const value = reader.wireType === wireTypes.varint ? Number(reader.int64()) : reader.buffer();
    fields.set(reader.field, [...(fields.get(reader.field) ?? []), value]);
  }
  return fields;
}
const messages = (fields: Fields, number: number) => (fields.get(number) ?? []).map((each) => fieldsOf(each as Buffer));
const numberIn = (fields: Fields, number: number) => fields.get(number)?.[0] as number;
function packed(fields: Fields, number: number): number[] {
  const reader = new ProtobufReader(fields.get(number)![0] as Buffer, undefined);
  const values: number[] = [];
  while (!reader.isAtEnd) values.push(reader.safeInteger());
  return values;
}

it('names functions, files and units by index', async () => {
  const outer = { name: 'outer', file: '/a.js', line: 3 };
  const inner = { name: 'inner ä', file: '/b.js', line: 300 };
  const bytes = await encodePprof({
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
  const profile = fieldsOf(bytes);
  const texts = profile.get(6)!.map(String);
  const textIn = (fields: Fields, number: number) => texts[numberIn(fields, number)];
  const byId = (number: number, id: number) => messages(profile, number).find((each) => numberIn(each, 1) === id)!;
  const functionOf = (locationId: number) => {
    const [line] = messages(byId(4, locationId), 4);
    const found = byId(5, numberIn(line!, 1));
    expect(numberIn(found, 5)).toBe(numberIn(line!, 2));
    return `${textIn(found, 2)} ${textIn(found, 4)}:${numberIn(line!, 2)}`;
  };
  expect(texts[0]).toBe('');
  expect(messages(profile, 1).map((type) => [textIn(type, 1), textIn(type, 2)])).toEqual([
    ['samples', 'count'],
    ['cpu', 'nanoseconds'],
  ]);
  expect(messages(profile, 2).map((sample) => [packed(sample, 1).map(functionOf), packed(sample, 2)])).toEqual([
    [
      ['inner ä /b.js:300', 'outer /a.js:3'],
      [2, 2_000_000_000],
    ],
    [['outer /a.js:3'], [1, 5]],
  ]);
  expect([numberIn(profile, 9), numberIn(profile, 10)]).toEqual([1_700_000_000_000 * 1e6, 250e6]);
});
