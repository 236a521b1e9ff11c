import { unpooled } from './unpooled.js';

const whole = Buffer.alloc(100, 'a');

it.each([
  ['a whole buffer', whole, 1, true],
  ['a slice of at least the ratio', whole.subarray(50), 2, true],
  ['a slice below the ratio', whole.subarray(51), 2, false],
])('%s is kept or copied', (_what, bytes, ratioMax, isKept) => {
  const own = unpooled(bytes, ratioMax);
  expect([own.equals(bytes), own === bytes, own.buffer.byteLength]).toEqual([
    true,
    isKept,
    isKept ? 100 : bytes.length,
  ]);
});

it('a copy does not share memory with the pool', () => {
  const pooled = Buffer.from('text');
  expect(unpooled(pooled, 2).buffer).not.toBe(pooled.buffer);
});
