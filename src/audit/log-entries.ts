import { sleep, type Clock } from '../std/clock.js';

/** Lines of one event, which are in one file. */
export type LogEntry = readonly Buffer[];

/** The number of entries that were written, from the first one, and the error of the next one. */
export interface Appended {
  readonly written: number;
  readonly error: unknown;
}

/** Bytes that are copied into one buffer and written at once. */
const writeBytesMax = 1024 * 1024;
const endOfTornLine = Buffer.from('\n');

interface Waiting {
  readonly entries: readonly LogEntry[];
  readonly done: (result: Appended) => void;
}

/** Writes entries in their order. Those that come while others are written are written together. */
export class EntryQueue {
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined = undefined;

  constructor(private readonly write: (entries: readonly LogEntry[]) => Promise<Appended>) {}

  append(entries: readonly LogEntry[]): Promise<Appended> {
    return new Promise((done) => {
      this.waiting.push({ entries, done });
      this.writing ??= this.writeAll();
    });
  }

  /** Resolves when all entries are written. */
  async whenIdle(): Promise<void> {
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      const entries = batch.length === 1 ? batch[0]!.entries : batch.flatMap((waiting) => waiting.entries);
      const { written, error } = await this.write(entries);
      let left = written;
      for (const waiting of batch) {
        const own = Math.min(left, waiting.entries.length);
        waiting.done({ written: own, error: own < waiting.entries.length ? error : undefined });
        left -= own;
      }
    }
    this.writing = undefined;
  }
}

/** Writes from an offset on, and returns how many bytes it has written. */
type Write = (buffer: Buffer, at: number) => Promise<{ readonly bytesWritten: number }>;

/** A reader that is busy is tried again after this time. */
const pauseMs = 20;

/** Writes whole entries to files and to pipes whose reader may be busy. Their file descriptors must not block. */
export class EntryWriter {
  /** True if the last line is not complete: it is ended before the next entry. */
  isTorn = false;
  private isPatient = true;

  constructor(private readonly clock: Clock) {}

  /** Writes entries until one fails. */
  async write(entries: readonly LogEntry[], write: Write): Promise<Appended & { readonly bytes: number }> {
    const pieces = entries.flat();
    if (this.isTorn) pieces.unshift(endOfTornLine);
    let bytes = 0;
    let error: unknown;
    try {
      for (const buffer of joined(pieces)) {
        for (let at = 0; at < buffer.length;) {
          const { bytesWritten } = await this.whenTaken(() => write(buffer, at));
          at += bytesWritten;
          bytes += bytesWritten;
        }
      }
    } catch (reason) {
      error = reason;
    }
    if (bytes === 0) return { written: error === undefined ? entries.length : 0, bytes, error };
    let left = bytes - (this.isTorn ? endOfTornLine.length : 0);
    let written = 0;
    for (const entry of entries) {
      const length = entry.reduce((sum, piece) => sum + piece.length, 0);
      if (left < length) break;
      left -= length;
      written++;
    }
    this.isTorn = left > 0;
    return { written, bytes, error };
  }

  /** Waits no longer: what a full pipe does not take is an error. */
  stopWaiting(): void {
    this.isPatient = false;
  }

  /** Repeats `write` as long as the pipe is full. */
  private async whenTaken<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || !this.isPatient) throw error;
        await sleep(this.clock, pauseMs);
      }
    }
  }
}

/** Joins small buffers, so that few of them are written. */
function* joined(pieces: readonly Buffer[]): Iterable<Buffer> {
  let small: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (bytes + piece.length > writeBytesMax && small.length > 0) {
      yield small.length === 1 ? small[0]! : Buffer.concat(small, bytes);
      small = [];
      bytes = 0;
    }
    small.push(piece);
    bytes += piece.length;
  }
  if (small.length > 0) yield small.length === 1 ? small[0]! : Buffer.concat(small, bytes);
}
