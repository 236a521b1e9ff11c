import { halfOf } from './cbor-float.js';

const startBytes = 64 * 1024;
/** Size of the buffer that is kept between items; larger ones are rare. */
const keptBytesMax = 4 * 1024 * 1024;
const shortTextMax = 48;

export const majorTypes = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

/** Writes CBOR items, each in its shortest form. */
export class CborWriter {
  private bytes = Buffer.allocUnsafeSlow(startBytes);
  private at = 0;

  /** Returns the written bytes as a copy, and empties the writer. */
  take(): Buffer {
    const taken = Buffer.allocUnsafeSlow(this.at);
    this.bytes.copy(taken, 0, 0, this.at);
    this.clear();
    return taken;
  }

  clear(): void {
    if (this.bytes.length > keptBytesMax) this.bytes = Buffer.allocUnsafeSlow(startBytes);
    this.at = 0;
  }

  /** Writes the head of an item: its major type, and a length, count or number from 0 to 2^53. */
  head(majorType: number, value: number): void {
    this.reserve(9);
    const type = majorType << 5;
    if (value < 24) this.bytes[this.at++] = type | value;
    else if (value < 0x100) {
      this.bytes[this.at++] = type | 24;
      this.bytes[this.at++] = value;
    } else if (value < 0x1_0000) {
      this.bytes[this.at++] = type | 25;
      this.at = this.bytes.writeUInt16BE(value, this.at);
    } else if (value < 0x1_0000_0000) {
      this.bytes[this.at++] = type | 26;
      this.at = this.bytes.writeUInt32BE(value, this.at);
    } else this.largeHead(majorType, BigInt(value));
  }

  /** Writes an integer of up to 64 bits and a sign. */
  integer(value: number | bigint): void {
    if (typeof value === 'bigint') {
      if (value >= 0n) this.largeHead(majorTypes.unsigned, value);
      else this.largeHead(majorTypes.negative, -1n - value);
    } else if (value >= 0) this.head(majorTypes.unsigned, value);
    else this.head(majorTypes.negative, -1 - value);
  }

  float(value: number): void {
    this.reserve(9);
    const half = halfOf(value);
    if (half !== undefined) {
      this.bytes[this.at++] = 0xf9;
      this.at = this.bytes.writeUInt16BE(half, this.at);
    } else if (Math.fround(value) === value) {
      this.bytes[this.at++] = 0xfa;
      this.at = this.bytes.writeFloatBE(value, this.at);
    } else {
      this.bytes[this.at++] = 0xfb;
      this.at = this.bytes.writeDoubleBE(value, this.at);
    }
  }

  simple(value: number): void {
    this.reserve(1);
    this.bytes[this.at++] = (majorTypes.simple << 5) | value;
  }

  /** Writes a byte string, which the profile uses for strings. */
  string(text: string): void {
    const { length } = text;
    if (length <= shortTextMax) {
      const start = this.at;
      this.head(majorTypes.bytes, length);
      if (this.shortAscii(text)) return;
      this.at = start;
    }
    const size = Buffer.byteLength(text);
    this.head(majorTypes.bytes, size);
    this.reserve(size);
    this.at += this.bytes.write(text, this.at, size, 'utf8');
  }

  byteString(bytes: Uint8Array): void {
    this.head(majorTypes.bytes, bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Writes a short ASCII string byte by byte, which is faster than Buffer.write(); returns false for other strings. */
  private shortAscii(text: string): boolean {
    this.reserve(shortTextMax);
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.at = at;
    return true;
  }

  private largeHead(majorType: number, value: bigint): void {
    if (value <= 0xffff_ffffn) return this.head(majorType, Number(value));
    this.reserve(9);
    this.bytes[this.at++] = (majorType << 5) | 27;
    this.at = this.bytes.writeBigUInt64BE(value, this.at);
  }

  private reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.at + count));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }
}
