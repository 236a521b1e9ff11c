import { assert } from '../std/assert.js';
import { headBytes } from './frame-writer.js';

/** Far above the largest frame: a page of the largest objects. */
const frameBytesMax = 2 ** 31;

/** The body of a frame. Methods read its values in the order in which they were written. */
export class FrameBody {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  byte(): number {
    return this.bytes[this.at++]!;
  }

  uint(): number {
    const value = this.bytes.readUInt32LE(this.at);
    this.at += 4;
    return value;
  }

  number(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  text(): string {
    const end = this.uint() + this.at;
    const value = this.bytes.toString('utf8', this.at, end);
    this.at = end;
    return value;
  }

  /** Returns a copy, so that a small value does not retain the frame around it. */
  data(): Buffer {
    const end = this.uint() + this.at;
    const value = Buffer.from(this.bytes.subarray(this.at, end));
    this.at = end;
    return value;
  }
}

type Receive = (kind: number, call: number, body: FrameBody) => void;

/** Splits a stream into frames. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private bytes = 0;
  /** The bytes that the first frame needs; unknown until its length has arrived. */
  private needed = 4;

  constructor(private readonly receive: Receive) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    while (this.bytes >= this.needed) this.read();
  }

  private read(): void {
    const all = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.bytes);
    let at = 0;
    for (;;) {
      this.needed = 4;
      if (all.length - at < 4) break;
      const length = all.readUInt32LE(at);
      assert(length >= headBytes - 4 && length < frameBytesMax, `a frame has a length: ${length}`);
      this.needed = 4 + length;
      if (all.length - at < this.needed) break;
      const body = new FrameBody(all.subarray(at + headBytes, at + this.needed));
      this.receive(all[at + 4]!, all.readUInt32LE(at + 5), body);
      at += this.needed;
    }
    this.bytes = all.length - at;
    this.chunks = this.bytes > 0 ? [all.subarray(at)] : [];
  }
}
