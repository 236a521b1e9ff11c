import { crc32, tableCrc32 } from './crc32.js';

it('is equal with and without zlib, at once and in parts', () => {
  const bytes = Buffer.from('123456789');
  for (const checksum of [crc32, tableCrc32]) {
    expect(checksum(bytes)).toBe(0xcbf43926);
    expect(checksum(bytes.subarray(4), checksum(bytes.subarray(0, 4)))).toBe(0xcbf43926);
    expect(checksum(Buffer.alloc(0))).toBe(0);
    expect(checksum('/é/😀', 7)).toBe(checksum(Buffer.from('/é/😀'), 7));
  }
});
