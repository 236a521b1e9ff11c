import * as zlib from 'node:zlib';

type Crc32 = (bytes: Uint8Array, seed?: number) => number;

/** zlib has crc32 from Node 20.15 on. The table is twenty times slower. */
export const crc32: Crc32 = (zlib as { crc32?: Crc32 }).crc32 ?? tableCrc32;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

export function tableCrc32(bytes: Uint8Array, seed = 0): number {
  let crc = ~seed;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
