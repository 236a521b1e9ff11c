const bytesMax = 16 * 1024;

/** Joins parts of buffers into one string. Only for ASCII, and up to a size, beyond which add() returns false. */
export class AsciiScratch {
  private readonly bytes = Buffer.allocUnsafeSlow(bytesMax);
  /** Of the string so far. */
  length = 0;

  clear(): void {
    this.length = 0;
  }

  add(from: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this;
    let { length } = this;
    if (length + end - start > bytesMax) return false;
    for (let at = start; at < end; at++) {
      const byte = from[at]!;
      if (byte > 0x7f) return false;
      bytes[length++] = byte;
    }
    this.length = length;
    return true;
  }

  addText(text: string): boolean {
    if (this.length + text.length > bytesMax) return false;
    this.length += this.bytes.write(text, this.length, 'latin1');
    return true;
  }

  toString(): string {
    return this.bytes.toString('latin1', 0, this.length);
  }
}
