import fc from 'fast-check';

/** Damages bytes. Positions are fractions of the length, to fit any bytes. */
type Damage = (bytes: Buffer) => Buffer;

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const at = (bytes: Buffer, where: number) => Math.floor(bytes.length * where);

/** Heads of CBOR items and varints of protobuf that announce too much, or never end. */
const lies = [
  ...[
    '5bffffffffffffffff',
    '7b00000000ffffffff',
    '9bffffffffffffffff',
    'bbffffffff00000000',
    '9f',
    'bf',
    '5f',
    '7f',
    'ff',
  ],
  ...[
    'ffffffffffffffffff01',
    'ffffffff0f',
    '8080808080808080808001',
    '0b0b0b0b',
    '0c',
    '0f',
    'd9d9f7',
    'c249',
    'f97e00',
  ],
  ...['fb7ff0000000000000', '1bffffffffffffffff', '3bffffffffffffffff', 'f7', 'f8ff', '1c', 'dbffffffffffffffff'],
].map((hex) => Buffer.from(hex, 'hex'));

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(share, fc.nat({ max: 255 })).map(([where, byte]): Damage => (bytes) => {
    const changed = Buffer.from(bytes);
    if (changed.length > 0) changed[at(bytes, where)] = byte;
    return changed;
  }),
  share.map(
    (where): Damage =>
      (bytes) =>
        bytes.subarray(0, at(bytes, where)),
  ),
  fc.tuple(share, share, fc.integer({ min: 1, max: 200 })).map(([from, to, times]): Damage => (bytes) => {
    const [start, end] = [at(bytes, Math.min(from, to)), at(bytes, Math.max(from, to))];
    const piece = bytes.subarray(start, Math.min(end, start + 2_000));
    return Buffer.concat([bytes.subarray(0, end), ...Array.from({ length: times }, () => piece), bytes.subarray(end)]);
  }),
  fc.tuple(share, share).map(([from, to]): Damage => (bytes) => {
    const [start, end] = [at(bytes, Math.min(from, to)), at(bytes, Math.max(from, to))];
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  }),
  fc.tuple(share, fc.constantFrom(...lies)).map(([where, lie]): Damage => (bytes) => {
    return Buffer.concat([bytes.subarray(0, at(bytes, where)), lie, bytes.subarray(at(bytes, where))]);
  }),
  fc.tuple(share, fc.constantFrom(...lies)).map(([where, lie]): Damage => (bytes) => {
    const start = at(bytes, where);
    return Buffer.concat([bytes.subarray(0, start), lie, bytes.subarray(Math.min(bytes.length, start + lie.length))]);
  }),
);

/** The bytes unchanged, or damaged in a few places. */
export const damaged = (bytes: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .array(damage, { maxLength: 4 })
    .map((damages) => damages.reduce((changed, next) => next(changed), bytes))
    .filter(({ length }) => length < 3_000_000);
