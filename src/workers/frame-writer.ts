import type { Duplex } from 'node:stream';

const chunkBytes = 64 * 1024;
/** Larger values are sent from their own memory; smaller ones are copied, since a buffer costs more than they do. */
const copiedBytesMax = 4 * 1024;
/** Length, kind and call. */
export const headBytes = 9;

/**
 * Writes frames to a stream, all frames of one iteration of the event loop at once:
 *
 *   length (4 bytes, of what follows) | kind (1) | call (4) | body
 *
 * Numbers are 64-bit floats, which hold every revision; texts and bytes follow their length.
 */
export class FrameWriter {
  private chunk = Buffer.allocUnsafe(chunkBytes);
  private sent = 0;
  private at = 0;
  private pieces: Buffer[] = [];
  private isScheduled = false;
  private head = { chunk: this.chunk, at: 0 };
  private bytes = 0;

  constructor(private readonly stream: Duplex) {}

  /** Bytes that the other process has not taken yet. */
  get waitingBytes(): number {
    return this.stream.writableLength;
  }

  begin(kind: number, call: number): this {
    this.reserve(headBytes);
    this.head = { chunk: this.chunk, at: this.at };
    this.at += 4;
    this.bytes = 0;
    return this.byte(kind).uint(call);
  }

  /** Ends the frame; it is sent in this iteration of the event loop. */
  end(): void {
    this.head.chunk.writeUInt32LE(this.bytes, this.head.at);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.flush());
  }

  byte(value: number): this {
    this.reserve(1);
    this.chunk[this.at++] = value;
    this.bytes++;
    return this;
  }

  uint(value: number): this {
    this.reserve(4);
    this.at = this.chunk.writeUInt32LE(value, this.at);
    this.bytes += 4;
    return this;
  }

  number(value: number): this {
    this.reserve(8);
    this.at = this.chunk.writeDoubleLE(value, this.at);
    this.bytes += 8;
    return this;
  }

  text(value: string): this {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    if (value.length * 3 > copiedBytesMax) return this.data(Buffer.from(value));
    this.reserve(4 + value.length * 3);
    const written = this.chunk.write(value, this.at + 4);
    this.chunk.writeUInt32LE(written, this.at);
    this.at += 4 + written;
    this.bytes += 4 + written;
    return this;
  }

  data(value: Uint8Array): this {
    return this.uint(value.length).raw(value);
  }

  /** Writes bytes without their length. The caller does not change them any more. */
  raw(value: Uint8Array): this {
    this.bytes += value.length;
    if (value.length > copiedBytesMax) {
      this.cut();
      this.pieces.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      return this;
    }
    this.reserve(value.length);
    this.chunk.set(value, this.at);
    this.at += value.length;
    return this;
  }

  flush(): void {
    this.isScheduled = false;
    this.cut();
    const { stream, pieces } = this;
    this.pieces = [];
    if (stream.destroyed || !stream.writable) return;
    if (pieces.length === 1) return void stream.write(pieces[0]);
    stream.cork();
    for (const piece of pieces) stream.write(piece);
    stream.uncork();
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.chunk.length) return;
    this.cut();
    this.chunk = Buffer.allocUnsafe(chunkBytes);
    this.sent = this.at = 0;
  }

  private cut(): void {
    if (this.at > this.sent) this.pieces.push(this.chunk.subarray(this.sent, this.at));
    this.sent = this.at;
  }
}
