import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { crc32 } from '../std/crc32.js';

/**
 * A gzip stream put together from parts that were compressed apart, so that parts can be kept and used again (RFC 1951
 * and 1952). A part is a run of deflate blocks that ends at a whole byte and looks back at nothing before itself.
 */
export interface GzipPart {
  readonly bytes: Buffer;
  /** Of what it holds: the length, and the CRC-32. */
  readonly length: number;
  readonly crc: number;
}

/** The fastest one: objects are so repetitive that others hardly make them smaller. */
const level = 1;

/** No name, no time, whatever system. */
export const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** The last block: a fixed one without content. */
const lastBlock = Buffer.from([0x03, 0x00]);

const deflate = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.deflateRaw);

/** Off the event loop. */
export async function deflatedPart(content: Buffer): Promise<GzipPart> {
  const bytes = await deflate(content, { level, finishFlush: zlib.constants.Z_SYNC_FLUSH });
  return { bytes, length: content.length, crc: crc32(content) };
}

const storedBytesMax = 0xffff;

/** For what is too short to become shorter. */
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

/** Adds up the parts of a stream; its tail says what they came to. */
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

/** CRC-32 reads bytes as polynomials over GF(2), modulo this one; the highest bit is the coefficient of x⁰. */
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

/** x^(8 · length): what as many bytes behind a text make of its checksum. */
function shiftBy(length: number): number {
  let shift = one;
  // Eight bits a byte: the exponent begins at 2^3; squares repeat after 32, since x^(2^32) is x.
  for (let rest = length, i = 3; rest > 0; rest = Math.floor(rest / 2), i++) {
    if (rest % 2 === 1) shift = times(squares[i % 32]!, shift);
  }
  return shift;
}

/** Of two texts in a row. */
function joinedCrc(first: number, second: number, secondLength: number): number {
  return (times(shiftBy(secondLength), first) ^ second) >>> 0;
}
