import { Encoder } from 'cbor-x';
import { readSequence } from './cbor-sequence.js';

const values = [{ a: 'x'.repeat(30_000) }, 1, { b: [1, 2, 'three'] }, 'y'.repeat(7_000), {}];
const encoder = new Encoder({ useRecords: false, tagUint8Array: false });
const sequence = Buffer.concat(values.map((value) => encoder.encode(value)));

async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield await Promise.resolve(bytes.subarray(at, at + length));
}

async function valuesIn(bytes: Buffer, pieceLength: number) {
  const found = [];
  for await (const { value } of readSequence(pieces(bytes, pieceLength))) found.push(value);
  return found;
}

it.each([1, 7, 1_000, 16_384, sequence.length])('reads the items from pieces of %i bytes', async (length) => {
  expect(await valuesIn(sequence, length)).toEqual(values);
});

it('refuses a last item that is cut off, whatever the pieces', async () => {
  for (const length of [1_000, sequence.length])
    await expect(valuesIn(sequence.subarray(0, -2), length)).rejects.toThrow('the last item is cut off');
});
