/** The bytes that lmdb gives to its decoder: at times a buffer that the next read overwrites, whose `length` it sets. */
type ReadBytes = Uint8Array & { readonly isGlobal?: boolean };

/**
 * The encoder of the database: copies records out of the buffer of lmdb. Those of scans are copied one after another into
 * shared buffers, because a buffer for each takes as long as reading it; who keeps such a record must copy it. Others have
 * their own.
 */
export class RecordCopies {
  private isScanning = false;
  private chunk = Buffer.alloc(0);
  private taken = 0;

  readonly encode = (record: Buffer): Buffer => record;

  readonly decode = (bytes: ReadBytes): Buffer => {
    const { buffer, byteOffset, length } = bytes;
    const read = new Uint8Array(buffer, byteOffset, length);
    if (!this.isScanning || length > sharedBytesMax) {
      // A range has copied records that are not in the buffer.
      if (this.isScanning && !bytes.isGlobal && Buffer.isBuffer(bytes)) return bytes;
      const own = Buffer.allocUnsafeSlow(length);
      own.set(read);
      return own;
    }
    if (this.taken + length > this.chunk.length) {
      this.chunk = Buffer.allocUnsafeSlow(chunkBytes);
      this.taken = 0;
    }
    const start = this.taken;
    this.taken += length;
    this.chunk.set(read, start);
    return this.chunk.subarray(start, this.taken);
  };

  /** Yields what a range of the database yields. */
  *whileScanning<T>(range: Iterable<T>): Generator<T, void, void> {
    const entries = range[Symbol.iterator]();
    let isOver = false;
    try {
      for (;;) {
        this.isScanning = true;
        const { done = false, value } = entries.next() as IteratorResult<T, undefined>;
        this.isScanning = false;
        isOver = done;
        if (value === undefined) return;
        yield value;
      }
    } finally {
      this.isScanning = false;
      if (!isOver) entries.return?.();
    }
  }
}

/** Less than malloc takes from the system for itself, so that chunks are used again without being cleared. */
const chunkBytes = 64 * 1024;
const sharedBytesMax = chunkBytes / 8;
