import { DecodeError } from './decode-error.js';

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const part = 2 ** 28;
const groupWireTypes: readonly number[] = [3, 4];

/**
 * One message of untrusted bytes, field by field. Nothing beyond `end` is ever read; what does not fit is a DecodeError.
 *
 *   while (reader.next()) reader.field === 3 ? reader.text() : reader.skip();
 */
export class ProtobufReader {
  /** The number of the field that next() stopped at. */
  field = 0;
  wireType = 0;
  // A number of 64 bits in parts that a double holds exactly: 28, 28 and 8.
  private low = 0;
  private middle = 0;
  private high = 0;

  constructor(
    private readonly bytes: Buffer,
    private at = 0,
    private readonly end: number = bytes.length,
  ) {}

  get isAtEnd(): boolean {
    return this.at === this.end;
  }

  /** In the bytes as a whole. */
  get position(): number {
    return this.at;
  }

  next(): boolean {
    if (this.at === this.end) return false;
    this.readVarint();
    const tag = this.low + this.middle * part;
    this.field = Math.floor(tag / 8);
    this.wireType = this.low & 7;
    if (this.field === 0 || this.field > 0x1fff_ffff || this.high !== 0) {
      throw new DecodeError(`proto: illegal tag ${this.field} (wire type ${this.wireType})`);
    }
    return true;
  }

  boolean(): boolean {
    this.readVarint();
    return this.low !== 0 || this.middle !== 0 || this.high !== 0;
  }

  int32(): number {
    this.readVarint();
    return this.low | (this.middle << 28);
  }

  /** A bigint when a double would lose digits. */
  int64(): number | bigint {
    this.readVarint();
    if (this.high === 0 && this.middle < 2 ** 25) return this.low + this.middle * part;
    const exact = BigInt.asIntN(64, (BigInt(this.high) << 56n) | (BigInt(this.middle) << 28n) | BigInt(this.low));
    const near = Number(exact);
    return Number.isSafeInteger(near) ? near : exact;
  }

  double(): number {
    const start = this.at;
    this.advance(8);
    return this.bytes.readDoubleLE(start);
  }

  /** A view of the message's memory. */
  buffer(): Buffer {
    const start = this.contentStart();
    return this.bytes.subarray(start, this.at);
  }

  text(): string {
    const start = this.contentStart();
    return this.bytes.toString('utf8', start, this.at);
  }

  message(): ProtobufReader {
    const start = this.contentStart();
    return new ProtobufReader(this.bytes, start, this.at);
  }

  skip(): void {
    if (this.wireType === wireTypes.varint) this.readVarint();
    else if (this.wireType === wireTypes.bytes) this.contentStart();
    else if (this.wireType === wireTypes.fixed64) this.advance(8);
    else if (this.wireType === wireTypes.fixed32) this.advance(4);
    else if (groupWireTypes.includes(this.wireType)) throw new DecodeError('proto: groups are not supported');
    else throw new DecodeError(`proto: illegal wireType ${this.wireType}`);
  }

  private contentStart(): number {
    this.readVarint();
    const length = this.low + this.middle * part;
    if (this.high !== 0) throw unexpectedEnd();
    const start = this.at;
    this.advance(length);
    return start;
  }

  private advance(count: number): void {
    if (count > this.end - this.at) throw unexpectedEnd();
    this.at += count;
  }

  private readVarint(): void {
    this.middle = 0;
    this.high = 0;
    let byte = this.byte();
    this.low = byte & 0x7f;
    if (byte < 0x80) return;
    for (let count = 1; count < 10; count++) {
      byte = this.byte();
      const bits = byte & 0x7f;
      if (count < 4) this.low += bits * 2 ** (7 * count);
      else if (count < 8) this.middle += bits * 2 ** (7 * (count - 4));
      else this.high = (this.high + bits * 2 ** (7 * (count - 8))) & 0xff;
      if (byte < 0x80) return;
    }
    throw new DecodeError('proto: integer overflow');
  }

  private byte(): number {
    if (this.at === this.end) throw unexpectedEnd();
    return this.bytes[this.at++]!;
  }
}

const unexpectedEnd = () => new DecodeError('unexpected EOF');
