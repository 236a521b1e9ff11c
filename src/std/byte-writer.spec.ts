import { ByteWriter } from './byte-writer.js';

it('writes bytes, numbers and UTF-8 one behind the other, and grows', () => {
  const writer = new ByteWriter(2);
  writer.byte(1).uint32BE(0x01020304).text('é\u{1f600}').bytes(Buffer.from('xyz'));
  const want = Buffer.concat([Buffer.from([1, 1, 2, 3, 4]), Buffer.from('é\u{1f600}xyz')]);
  expect(writer.length).toBe(want.length);
  expect(writer.finish()).toEqual(want);
});
