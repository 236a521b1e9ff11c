const startBytes = 64 * 1024;
/** Size of the buffer that is kept between messages; larger ones are rare. */
const keptBytesMax = 4 * 1024 * 1024;
const shortTextMax = 48;

/**
 * Writes messages from their last byte to their first: the content is complete when its length is written, so nothing
 * is measured beforehand or moved afterwards. Fields are therefore written in reverse order, and their tags after them.
 *
 *   const end = writer.length;
 *   writer.string('content'); writer.tag(1, wireTypes.bytes);
 *   writer.lengthSince(end); writer.tag(2, wireTypes.bytes);
 */
export class ProtobufWriter {
  private bytes: Buffer;
  private at: number;

  /** A message that is 8 bytes shorter than `size` is written without growing. */
  constructor(size = startBytes) {
    this.bytes = Buffer.allocUnsafe(size);
    this.at = size;
  }

  /** Number of bytes written. */
  get length(): number {
    return this.bytes.length - this.at;
  }

  /** Returns the written bytes as a copy, and empties the writer. */
  take(): Buffer {
    const taken = Buffer.allocUnsafeSlow(this.length);
    this.bytes.copy(taken, 0, this.at);
    this.clear();
    return taken;
  }

  /** Returns the written bytes without a copy; the writer must not be used afterwards. */
  view(): Buffer {
    return this.bytes.subarray(this.at);
  }

  clear(): void {
    if (this.bytes.length > keptBytesMax) this.bytes = Buffer.allocUnsafeSlow(startBytes);
    this.at = this.bytes.length;
  }

  lengthSince(end: number): void {
    this.varint(this.length - end);
  }

  /** Writes the tag of a field, after its content. */
  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  /** Writes an integer from 0 to 2^53. */
  varint(value: number): void {
    if (this.at < 8) this.grow(8);
    if (value < 0x80) {
      this.bytes[--this.at] = value;
      return;
    }
    let size = 2;
    for (let rest = value; rest >= 0x4000; rest /= 128) size++;
    let at = (this.at -= size);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.bytes[at++] = (rest & 0x7f) | 0x80;
    this.bytes[at] = rest;
  }

  /** Writes a signed integer; negative ones take ten bytes. */
  integer(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) this.varint(value);
    else this.exactInteger(BigInt.asUintN(64, BigInt(value)));
  }

  /** Writes four bytes, the most significant one first. Not part of protobuf: frames begin with their length. */
  uint32BE(value: number): void {
    if (this.at < 4) this.grow(4);
    this.at -= 4;
    this.bytes.writeUInt32BE(value, this.at);
  }

  double(value: number): void {
    if (this.at < 8) this.grow(8);
    this.at -= 8;
    this.bytes.writeDoubleLE(value, this.at);
  }

  boolean(value: boolean): void {
    this.varint(value ? 1 : 0);
  }

  /** Writes a string with its length. */
  string(text: string): void {
    const { length } = text;
    if (length <= shortTextMax && this.shortAscii(text)) {
      this.varint(length);
      return;
    }
    const size = Buffer.byteLength(text);
    if (this.at < size) this.grow(size);
    this.at -= size;
    this.bytes.write(text, this.at, size, 'utf8');
    this.varint(size);
  }

  /** Decodes base64 and writes the bytes with their length. */
  base64(text: string): void {
    const size = Buffer.byteLength(text, 'base64');
    if (this.at < size) this.grow(size);
    // Line breaks in the base64 make the estimate too large.
    const written = this.bytes.write(text, this.at - size, size, 'base64');
    if (written < size) this.bytes.copyWithin(this.at - written, this.at - size, this.at - size + written);
    this.at -= written;
    this.varint(written);
  }

  /** Writes bytes with their length. */
  content(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array): void {
    if (this.at < bytes.length) this.grow(bytes.length);
    this.at -= bytes.length;
    this.bytes.set(bytes, this.at);
  }

  /** Writes a few bytes one by one, which is faster than a copy. */
  slice(bytes: Uint8Array, start: number, end: number): void {
    if (this.at < end - start) this.grow(end - start);
    let { at } = this;
    for (let i = end - 1; i >= start; i--) this.bytes[--at] = bytes[i]!;
    this.at = at;
  }

  /** Writes a short ASCII string byte by byte, which is faster than Buffer.write(); returns false for other strings. */
  private shortAscii(text: string): boolean {
    if (this.at < shortTextMax) this.grow(shortTextMax);
    let { at } = this;
    const { bytes } = this;
    for (let i = text.length - 1; i >= 0; i--) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[--at] = code;
    }
    this.at = at;
    return true;
  }

  private exactInteger(value: bigint): void {
    if (this.at < 10) this.grow(10);
    let size = 1;
    for (let rest = value; rest >= 0x80n; rest >>= 7n) size++;
    let at = (this.at -= size);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.bytes[at++] = Number(rest & 0x7fn) | 0x80;
    this.bytes[at] = Number(rest);
  }

  private grow(count: number): void {
    const { length } = this;
    let size = this.bytes.length * 2;
    while (size < length + count) size *= 2;
    const larger = Buffer.allocUnsafeSlow(size);
    this.bytes.copy(larger, size - length, this.at);
    this.bytes = larger;
    this.at = size - length;
  }
}
