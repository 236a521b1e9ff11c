import fc from 'fast-check';
import protobufjs from 'protobufjs';
import { DecodeError } from './decode-error.js';
import { ProtobufReader, wireTypes } from './protobuf-reader.js';
import { ProtobufWriter } from './protobuf-writer.js';

/** Compares our reader and writer with those of protobufjs. */
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const field = fc.oneof(
  fc.record({ type: fc.constant('int64' as const), value: int64 }),
  fc.record({ type: fc.constant('text' as const), value: fc.string({ unit: 'grapheme', maxLength: 80 }) }),
  fc.record({ type: fc.constant('bytes' as const), value: fc.uint8Array({ maxLength: 300 }) }),
  fc.record({ type: fc.constant('double' as const), value: fc.double({ noNaN: true }) }),
);
type Field = typeof field extends fc.Arbitrary<infer T> ? T : never;
const fields = fc.array(fc.record({ number: fc.integer({ min: 1, max: 0x1fff_ffff }), field }), { maxLength: 8 });

const wireTypeOf = {
  int64: wireTypes.varint,
  text: wireTypes.bytes,
  bytes: wireTypes.bytes,
  double: wireTypes.fixed64,
};

function writeWithOurs(all: readonly { number: number; field: Field }[], size: number): Buffer {
  const writer = new ProtobufWriter(size);
  for (const { number, field } of [...all].reverse()) {
    if (field.type === 'int64') writer.integer(field.value);
    else if (field.type === 'text') writer.string(field.value);
    else if (field.type === 'bytes') writer.content(field.value);
    else writer.double(field.value);
    writer.tag(number, wireTypeOf[field.type]);
  }
  return writer.view();
}

function writeWithTheirs(all: readonly { number: number; field: Field }[]): Buffer {
  const writer = protobufjs.Writer.create();
  for (const { number, field } of all) {
    writer.uint32(((number << 3) | wireTypeOf[field.type]) >>> 0);
    if (field.type === 'int64') writer.int64(String(field.value));
    else if (field.type === 'text') writer.string(field.value);
    else if (field.type === 'bytes') writer.bytes(field.value);
    else writer.double(field.value);
  }
  return Buffer.from(writer.finish());
}

it.each([1, 64, 64 * 1024])('writes the bytes of protobufjs, beginning with %d bytes of memory', (size) => {
  fc.assert(fc.property(fields, (all) => expect(writeWithOurs(all, size)).toEqual(writeWithTheirs(all))));
});

it('reads what protobufjs has written', () => {
  fc.assert(
    fc.property(fields, (all) => {
      const reader = new ProtobufReader(writeWithTheirs(all), undefined);
      for (const { number, field } of all) {
        expect(reader.next()).toBe(true);
        expect(reader.field).toBe(number);
        reader.expect(wireTypeOf[field.type]);
        if (field.type === 'int64') expect(BigInt(reader.int64())).toBe(field.value);
        else if (field.type === 'text') expect(reader.text()).toBe(field.value);
        else if (field.type === 'bytes') expect([...reader.buffer()]).toEqual([...field.value]);
        else expect(reader.double()).toBe(field.value);
      }
      expect(reader.next()).toBe(false);
    }),
  );
});

it('a nested message ends where its length says', () => {
  const writer = new ProtobufWriter();
  writer.varint(7);
  writer.tag(3, wireTypes.varint);
  const end = writer.length;
  writer.string('inner');
  writer.tag(1, wireTypes.bytes);
  writer.lengthSince(end);
  writer.tag(2, wireTypes.bytes);
  const reader = new ProtobufReader(writer.take(), undefined);
  reader.next();
  const outer = reader.enter();
  expect([reader.next(), reader.text(), reader.next()]).toEqual([true, 'inner', false]);
  reader.leave(outer);
  expect([reader.next(), reader.field, reader.safeInteger(), reader.next()]).toEqual([true, 3, 7, false]);
});

it.each([
  ['a negative number', -1n],
  ['2^53', 2n ** 53n],
  ['the largest uint64', 2n ** 64n - 1n],
])('safeInteger() rejects %s', (_, value) => {
  const writer = new ProtobufWriter();
  writer.integer(value);
  expect(() => new ProtobufReader(writer.take(), undefined).safeInteger()).toThrow(DecodeError);
});

it('safeInteger() reads 2^53 - 1', () => {
  const writer = new ProtobufWriter();
  writer.varint(Number.MAX_SAFE_INTEGER);
  expect(new ProtobufReader(writer.take(), undefined).safeInteger()).toBe(Number.MAX_SAFE_INTEGER);
});

it('expect() names the field that has another wire type', () => {
  const reader = new ProtobufReader(Buffer.from([0x18, 1]), undefined);
  reader.next();
  expect(() => reader.expect(wireTypes.bytes)).toThrow('proto: wrong wireType = 0 for field 3');
  expect(() => reader.expect(wireTypes.bytes, 'spec')).toThrow('proto: wrong wireType = 0 for field spec');
});

it('bytes in memory of a writer that is used again stay those of the first message', () => {
  const writer = new ProtobufWriter(256);
  writer.string('first');
  const first = writer.take();
  writer.string('other');
  expect([first.toString('latin1'), writer.take().toString('latin1')]).toEqual(['\x05first', '\x05other']);
});
