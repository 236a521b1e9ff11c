import { keyText } from '../key-text.js';
import { MalformedMessageError } from './grpc-error.js';
import { frameHeaderBytes } from './message-frames.js';

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const varintBytesMax = 10;

/**
 * Reads a message and its nested messages, field by field. Never reads beyond the end of the current message, and
 * rejects 64-bit numbers that a double cannot hold.
 *
 *   while (reader.next()) {
 *     if (reader.field === 3) revision = reader.number();
 *     else reader.skip();
 *   }
 */
export class ProtobufReader {
  /** The number of the current field. */
  field = 0;
  private wireType = 0;
  private at = 0;
  private end: number;

  constructor(private readonly bytes: Buffer) {
    this.end = bytes.length;
  }

  next(): boolean {
    if (this.at === this.end) return false;
    const tag = this.varint();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.field === 0 || this.field > 0x1fff_ffff) throw new MalformedMessageError(`no field has the tag ${tag}`);
    return true;
  }

  number(): number {
    this.expect(wireTypes.varint);
    return this.varint();
  }

  boolean(): boolean {
    return this.number() !== 0;
  }

  /** Returns a view of the message's memory. */
  buffer(): Buffer {
    const start = this.contentStart();
    return this.bytes.subarray(start, this.at);
  }

  text(): string {
    const start = this.contentStart();
    return this.bytes.toString('utf8', start, this.at);
  }

  /** Reads a key, which need not be valid UTF-8. */
  key(): string {
    const start = this.contentStart();
    return keyText(this.bytes, start, this.at);
  }

  message<T>(read: (reader: this) => T): T {
    const start = this.contentStart();
    const { end, at } = this;
    this.end = at;
    this.at = start;
    const message = read(this);
    this.at = at;
    this.end = end;
    return message;
  }

  skip(): void {
    if (this.wireType === wireTypes.varint) this.skipVarint();
    else if (this.wireType === wireTypes.bytes) this.contentStart();
    else if (this.wireType === wireTypes.fixed64) this.advance(8);
    else if (this.wireType === wireTypes.fixed32) this.advance(4);
    else throw new MalformedMessageError(`wire type ${this.wireType}`);
  }

  private contentStart(): number {
    this.expect(wireTypes.bytes);
    const length = this.varint();
    const start = this.at;
    this.advance(length);
    return start;
  }

  private advance(count: number): void {
    if (count > this.end - this.at) throw new MalformedMessageError('it ends within a field');
    this.at += count;
  }

  private expect(wireType: number): void {
    if (this.wireType === wireType) return;
    throw new MalformedMessageError(`field ${this.field} has wire type ${this.wireType}, not ${wireType}`);
  }

  private varint(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (let count = 1; count < varintBytesMax; count++) {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new MalformedMessageError('a number is too large, or negative');
        return value;
      }
      scale *= 0x80;
    }
    throw new MalformedMessageError('unterminated varint');
  }

  private skipVarint(): void {
    for (let count = 0; count < varintBytesMax; count++) if (this.byte() < 0x80) return;
    throw new MalformedMessageError('unterminated varint');
  }

  private byte(): number {
    if (this.at === this.end) throw new MalformedMessageError('it ends within a field');
    return this.bytes[this.at++]!;
  }
}

/**
 * Writes a message from its last byte to its first, so that a length is known when it is written. Fields are therefore
 * written in reverse order.
 */
export class ProtobufWriter {
  private bytes: Buffer;
  private at: number;

  /** `bytesExpected` avoids copies if it is large enough. */
  constructor(bytesExpected: number) {
    this.at = bytesExpected + frameHeaderBytes;
    this.bytes = Buffer.allocUnsafe(this.at);
  }

  /** Leaves out 0, as proto3 does. */
  number(field: number, value: number): void {
    if (value !== 0) this.presentNumber(field, value);
  }

  /** Writes 0 too: in a oneof it selects the member. */
  presentNumber(field: number, value: number): void {
    this.varint(value);
    this.varint(field * 8 + wireTypes.varint);
  }

  boolean(field: number, value: boolean): void {
    if (value) this.presentNumber(field, 1);
  }

  buffer(field: number, value: Uint8Array): void {
    this.reserve(value.length);
    this.at -= value.length;
    this.bytes.set(value, this.at);
    this.varint(value.length);
    this.varint(field * 8 + wireTypes.bytes);
  }

  /** Returns a mark for endMessage(), to be called after the fields of the message. */
  beginMessage(): number {
    return this.bytes.length - this.at;
  }

  endMessage(field: number, mark: number): void {
    this.varint(this.bytes.length - this.at - mark);
    this.varint(field * 8 + wireTypes.bytes);
  }

  /** Returns the message after its gRPC header. */
  framed(): Buffer {
    const length = this.bytes.length - this.at;
    this.reserve(frameHeaderBytes);
    this.at -= frameHeaderBytes;
    this.bytes[this.at] = 0;
    this.bytes.writeUInt32BE(length, this.at + 1);
    return this.bytes.subarray(this.at);
  }

  private varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.reserve(size);
    this.at -= size;
    let at = this.at;
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.bytes[at++] = (value % 0x80) | 0x80;
    this.bytes[at] = value;
  }

  private reserve(count: number): void {
    if (count <= this.at) return;
    const written = this.bytes.length - this.at;
    const larger = Buffer.allocUnsafe(2 * (written + count) + frameHeaderBytes);
    this.bytes.copy(larger, larger.length - written, this.at);
    this.at = larger.length - written;
    this.bytes = larger;
  }
}
