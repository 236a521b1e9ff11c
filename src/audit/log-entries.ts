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
  private isWriting = false;
  private idle: (() => void) | undefined = undefined;

  constructor(private readonly write: (entries: readonly LogEntry[]) => Promise<Appended>) {}

  append(entries: readonly LogEntry[]): Promise<Appended> {
    return new Promise((done) => {
      this.waiting.push({ entries, done });
      if (!this.isWriting) void this.writeAll();
    });
  }

  /** Resolves when all entries are written. Called once. */
  async whenIdle(): Promise<void> {
    if (this.isWriting) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
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
    this.isWriting = false;
    this.idle?.();
  }
}

/** A reader that is busy is tried again after this time. */
const pauseMs = 20;

/** Writes to pipes whose reader may be busy. */
export class PatientWriter {
  private isImpatient = false;

  constructor(private readonly clock: Clock) {}

  /** Repeats `write` as long as the pipe is full, and returns its result. The file descriptor must not block. */
  async write(write: () => Promise<{ readonly bytesWritten: number }>): Promise<number> {
    for (;;) {
      try {
        return (await write()).bytesWritten;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || this.isImpatient) throw error;
        await sleep(this.clock, pauseMs);
      }
    }
  }

  /** Waits no longer: what a full pipe does not take is an error. */
  stopWaiting(): void {
    this.isImpatient = true;
  }
}

interface EntriesWritten extends Appended {
  readonly bytes: number;
  /** True if the last line is not complete. */
  readonly isTorn: boolean;
}

/**
 * Writes entries until one fails. `write` writes from an offset on, and returns how many bytes it has written. If the
 * last line before is torn, it is ended first.
 */
export async function writeEntries(
  entries: readonly LogEntry[],
  isTorn: boolean,
  write: (buffer: Buffer, at: number) => Promise<number>,
): Promise<EntriesWritten> {
  const pieces = entries.flat();
  if (isTorn) pieces.unshift(endOfTornLine);
  let bytes = 0;
  let error: unknown;
  try {
    for (const buffer of joined(pieces)) {
      for (let at = 0; at < buffer.length;) {
        const count = await write(buffer, at);
        at += count;
        bytes += count;
      }
    }
  } catch (reason) {
    error = reason;
  }
  if (bytes === 0) return { written: error === undefined ? entries.length : 0, bytes, isTorn, error };
  let left = bytes - (isTorn ? endOfTornLine.length : 0);
  let written = 0;
  for (const entry of entries) {
    const length = entry.reduce((sum, piece) => sum + piece.length, 0);
    if (left < length) break;
    left -= length;
    written++;
  }
  return { written, bytes, isTorn: left > 0, error };
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
