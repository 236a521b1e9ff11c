import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { deflatedPart, gzipHead, GzipSum, storedPart, type GzipPart } from './gzip-parts.js';

function joined(parts: readonly GzipPart[]): Buffer {
  const sum = new GzipSum();
  for (const part of parts) sum.add(part);
  return Buffer.concat([gzipHead, ...parts.map(({ bytes }) => bytes), sum.tail()]);
}

it('joined parts are one gzip stream', async () => {
  const piece = fc.tuple(fc.boolean(), fc.string({ maxLength: 200 }), fc.integer({ min: 0, max: 500 }));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const contents = pieces.map(([, text, times]) => Buffer.from(text.repeat(times)));
      const parts = await Promise.all(
        contents.map(async (content, i) => (pieces[i]![0] ? storedPart(content) : deflatedPart(content))),
      );
      // gunzip verifies checksum and length.
      expect(gunzipSync(joined(parts)).equals(Buffer.concat(contents))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it('the CRC of joined parts equals that of the whole, for parts of all sizes', async () => {
  const contents = [0, 1, 2, 65_535, 65_536, 200_000].map((length) => Buffer.alloc(length, 'keel'));
  const parts = [...(await Promise.all(contents.map(deflatedPart))), ...contents.map(storedPart)];
  const whole = gunzipSync(joined(parts));
  expect(whole.length).toBe(2 * contents.reduce((sum, { length }) => sum + length, 0));
});

it('a part may occur several times', async () => {
  const part = await deflatedPart(Buffer.from('again '));
  expect(gunzipSync(joined([part, storedPart(Buffer.from('and ')), part])).toString()).toBe('again and again ');
});
