import { DecodeError } from './decode-error.js';
import { RecentTexts } from './recent-texts.js';

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A range of the whole input. */
export interface ContentRange {
  start: number;
  end: number;
}

const part = 2 ** 28;
const groupWireTypes: readonly number[] = [3, 4];
const texts = new RecentTexts((bytes, start, end) => bytes.toString('utf8', start, end));

/**
 * Reads messages from untrusted bytes, field by field. Never reads beyond the end; malformed input throws DecodeError.
 *
 *   while (reader.next()) reader.field === 3 ? reader.text() : reader.skip();
 *
 * The same reader reads nested messages:
 *
 *   const outer = reader.enter();
 *   while (reader.next()) …
 *   reader.leave(outer);
 *
 * Methods that read a value do not check the wire type of its field: packed values have none. Callers do, by `wireType`
 * or `expect()`.
 */
export class ProtobufReader<Context = undefined> {
  /** Number of the current field. */
  field = 0;
  wireType = 0;
  // A 64-bit number in parts that doubles hold exactly: 28, 28 and 8 bits.
  private low = 0;
  private middle = 0;
  private high = 0;

  constructor(
    private readonly bytes: Buffer,
    /** State of the caller that goes with the reader: limits, for example. */
    readonly context: Context,
    private at = 0,
    private end: number = bytes.length,
  ) {}

  get isAtEnd(): boolean {
    return this.at === this.end;
  }

  /** Position in the whole input. */
  get position(): number {
    return this.at;
  }

  next(): boolean {
    if (this.at === this.end) return false;
    const first = this.bytes[this.at]!;
    if (first < 0x80 && first >= 8) {
      this.at++;
      this.field = first >> 3;
      this.wireType = first & 7;
      return true;
    }
    this.readVarint();
    const tag = this.low + this.middle * part;
    this.field = Math.floor(tag / 8);
    this.wireType = this.low & 7;
    if (this.field === 0 || this.field > 0x1fff_ffff || this.high !== 0) {
      throw new DecodeError(`proto: illegal tag ${this.field} (wire type ${this.wireType})`);
    }
    return true;
  }

  /** Throws if the current field, which errors call `name`, has another wire type. */
  expect(wireType: number, name: string | number = this.field): void {
    if (this.wireType === wireType) return;
    throw new DecodeError(`proto: wrong wireType = ${this.wireType} for field ${name}`);
  }

  /** Enters the message in the current field. Returns a value for `leave()`. */
  enter(): number {
    const length = this.length();
    const { end } = this;
    if (length > end - this.at) throw unexpectedEnd();
    this.end = this.at + length;
    return end;
  }

  /** Leaves a message that has been read to its end. */
  leave(outer: number): void {
    this.end = outer;
  }

  boolean(): boolean {
    this.readVarint();
    return this.low !== 0 || this.middle !== 0 || this.high !== 0;
  }

  int32(): number {
    this.readVarint();
    return this.low | (this.middle << 28);
  }

  /** Returns a bigint if a double would lose digits. */
  int64(): number | bigint {
    const short = this.shortVarint();
    if (short >= 0) return short;
    this.readVarint();
    if (this.high === 0 && this.middle < 2 ** 25) return this.low + this.middle * part;
    const exact = BigInt.asIntN(64, (BigInt(this.high) << 56n) | (BigInt(this.middle) << 28n) | BigInt(this.low));
    const near = Number(exact);
    return Number.isSafeInteger(near) ? near : exact;
  }

  /** Reads an integer that a double holds exactly. Throws for larger and negative ones. */
  safeInteger(): number {
    const short = this.shortVarint();
    if (short >= 0) return short;
    this.readVarint();
    if (this.high !== 0 || this.middle >= 2 ** 25) throw new DecodeError('proto: number beyond 2^53');
    return this.low + this.middle * part;
  }

  double(): number {
    const start = this.at;
    this.advance(8);
    return this.bytes.readDoubleLE(start);
  }

  /** Returns a view of the input. */
  buffer(): Buffer {
    const start = this.contentStart();
    return this.bytes.subarray(start, this.at);
  }

  /** Range of the field's content, for view(); reuses `range` if given. */
  contentRange(range: ContentRange = { start: 0, end: 0 }): ContentRange {
    range.start = this.contentStart();
    range.end = this.at;
    return range;
  }

  view({ start, end }: ContentRange): Buffer {
    return this.bytes.subarray(start, end);
  }

  /** Decodes the field's content without making a view of it. */
  content<T>(decode: (bytes: Buffer, start: number, end: number) => T): T {
    const start = this.contentStart();
    return decode(this.bytes, start, this.at);
  }

  text(): string {
    const start = this.contentStart();
    return texts.of(this.bytes, start, this.at);
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
    const length = this.length();
    const start = this.at;
    this.advance(length);
    return start;
  }

  private length(): number {
    const short = this.shortVarint();
    if (short >= 0) return short;
    this.readVarint();
    if (this.high !== 0) throw unexpectedEnd();
    return this.low + this.middle * part;
  }

  private advance(count: number): void {
    if (count > this.end - this.at) throw unexpectedEnd();
    this.at += count;
  }

  /** Reads an integer below 2^28, as most are. Returns -1 and reads nothing if it is larger. */
  private shortVarint(): number {
    const { bytes, end } = this;
    let { at } = this;
    let value = 0;
    for (let shift = 0; shift < 28 && at < end; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return value;
      }
    }
    return -1;
  }

  private readVarint(): void {
    const { bytes, end } = this;
    let { at } = this;
    let low = 0;
    let middle = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (at === end) throw unexpectedEnd();
      const byte = bytes[at++]!;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift < 56) middle |= bits << (shift - 28);
      else if (shift < 70) high = (high | (bits << (shift - 56))) & 0xff;
      else throw new DecodeError('proto: integer overflow');
      if (byte < 0x80) break;
    }
    this.at = at;
    this.low = low;
    this.middle = middle;
    this.high = high;
  }
}

const unexpectedEnd = () => new DecodeError('unexpected EOF');
