import * as zlib from 'node:zlib';

/** Of bytes, or of text as UTF-8. */
type Crc32 = (data: Uint8Array | string, seed?: number) => number;

/** zlib has crc32 from Node 20.15 on. The table is twenty times slower. */
export const crc32: Crc32 = (zlib as { crc32?: Crc32 }).crc32 ?? tableCrc32;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

export function tableCrc32(data: Uint8Array | string, seed = 0): number {
  let crc = ~seed;
  for (const byte of typeof data === 'string' ? Buffer.from(data) : data)
    crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
