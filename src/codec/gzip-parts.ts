import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { crc32 } from '../std/crc32.js';

/**
 * A gzip stream that is joined from independently compressed parts, so that parts can be cached (RFC 1951 and 1952). A
 * part is a sequence of deflate blocks that ends at a byte boundary and has no back-references beyond its start.
 */
export interface GzipPart {
  readonly bytes: Buffer;
  /** Length and CRC-32 of the uncompressed content. */
  readonly length: number;
  readonly crc: number;
}

/** The fastest level: objects are so repetitive that higher ones hardly make them smaller. */
const level = 1;

/** Header without name, time and operating system. */
export const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** The last block: empty, with fixed Huffman codes. */
const lastBlock = Buffer.from([0x03, 0x00]);

const deflate = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.deflateRaw);

/** Compresses in the thread pool. */
export async function deflatedPart(content: Buffer): Promise<GzipPart> {
  const bytes = await deflate(content, { level, finishFlush: zlib.constants.Z_SYNC_FLUSH });
  return { bytes, length: content.length, crc: crc32(content) };
}

const storedBytesMax = 0xffff;

/** A part of stored blocks, for content that is too short to compress. */
export function storedPart(content: Buffer): GzipPart {
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += storedBytesMax) {
    const block = content.subarray(at, at + storedBytesMax);
    const head = Buffer.allocUnsafe(5);
    head[0] = 0;
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ 0xffff, 3);
    pieces.push(head, block);
  }
  return { bytes: Buffer.concat(pieces), length: content.length, crc: crc32(content) };
}

/** Adds up length and CRC of the parts for the trailer of the stream. */
export class GzipSum {
  private crc = 0;
  private length = 0;

  add(part: GzipPart): void {
    this.crc = joinedCrc(this.crc, part.crc, part.length);
    this.length += part.length;
  }

  tail(): Buffer {
    const sums = Buffer.allocUnsafe(8);
    sums.writeUInt32LE(this.crc, 0);
    sums.writeUInt32LE(this.length % 2 ** 32, 4);
    return Buffer.concat([lastBlock, sums]);
  }
}

/** CRC-32 as polynomials over GF(2), modulo this one; the highest bit is the coefficient of x⁰. */
const modulus = 0xedb88320;
const one = 0x80000000;

function times(a: number, b: number): number {
  let product = 0;
  for (let bit = one, multiple = b; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= multiple;
    multiple = multiple & 1 ? (multiple >>> 1) ^ modulus : multiple >>> 1;
  }
  return product >>> 0;
}

/** x^(2^i) */
const squares: number[] = [0x40000000];
for (let i = 1; i < 32; i++) squares.push(times(squares[i - 1]!, squares[i - 1]!));

/** Returns x^(8 · length), the factor by which that many following bytes change the CRC of a content. */
function shiftBy(length: number): number {
  let shift = one;
  // Eight bits a byte: the exponent starts at 2^3. Squares repeat after 32, since x^(2^32) is x.
  for (let rest = length, i = 3; rest > 0; rest = Math.floor(rest / 2), i++) {
    if (rest % 2 === 1) shift = times(squares[i % 32]!, shift);
  }
  return shift;
}

/** CRC of two contents in a row. */
function joinedCrc(first: number, second: number, secondLength: number): number {
  return (times(shiftBy(secondLength), first) ^ second) >>> 0;
}
