/** Shorter ones cost V8 little. */
const keptBytesMin = 16 * 1024;
/** Of one length. */
const keptMax = 8;

/**
 * The memory of slices that connections have taken, for the slices of other lists: memory outside the heap that is allocated
 * again and again makes V8 collect the whole heap. Lengths are rounded up to powers of two, so that few of them differ.
 */
export class SliceMemory {
  private readonly kept = new Map<number, ArrayBuffer[]>();

  take(length: number): Buffer {
    if (length < keptBytesMin) return Buffer.allocUnsafeSlow(length);
    const taken = 2 ** Math.ceil(Math.log2(length));
    const memory = this.kept.get(taken)?.pop() ?? Buffer.allocUnsafeSlow(taken).buffer;
    return Buffer.from(memory, 0, length);
  }

  /** Called when nobody reads or writes the slice any more. */
  giveBack({ buffer, length }: Buffer): void {
    if (length < keptBytesMin) return;
    const kept = this.kept.get(buffer.byteLength) ?? [];
    if (kept.length >= keptMax) return;
    this.kept.set(buffer.byteLength, kept);
    kept.push(buffer as ArrayBuffer);
  }
}
