/** Bytes that are written once, front to back, into one buffer that doubles when it is full. */
export class ByteWriter {
  private buffer: Buffer;
  private used = 0;

  constructor(capacity = 256) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.used;
  }

  byte(value: number): this {
    this.reserve(1);
    this.buffer[this.used++] = value;
    return this;
  }

  uint32BE(value: number): this {
    this.reserve(4);
    this.used = this.buffer.writeUInt32BE(value, this.used);
    return this;
  }

  bytes(source: Uint8Array): this {
    this.reserve(source.length);
    this.buffer.set(source, this.used);
    this.used += source.length;
    return this;
  }

  /** As UTF-8. */
  text(text: string): this {
    // A UTF-16 unit takes at most three bytes.
    this.reserve(text.length * 3);
    this.used += this.buffer.write(text, this.used);
    return this;
  }

  /** What was written. Nothing is copied, so the writer must not be used any more. */
  finish(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  private reserve(count: number): void {
    const needed = this.used + count;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}
