import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { reasonOf } from '../kubeconfig-client/client-error.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { RotatedFiles } from './rotated-files.js';

const megabyte = 1024 * 1024;
/** Bytes that are copied into one buffer and written at once. */
const writeBytesMax = megabyte;
/** After a failed rotation, events are appended to the old file for this time. */
const rotationRetryMs = 10_000;
const ownerOnly = 0o600;
const directoryMode = 0o700;
const lineFeed = 0x0a;
const endOfTornLine = Buffer.from('\n');

interface Options {
  readonly path: string;
  readonly compresses: boolean;
  readonly daysMax: number;
  readonly filesMax: number;
  /** 0: the file is not rotated. */
  readonly megabytesMax: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Lines of one event, which are in one file. */
export type LogEntry = readonly Buffer[];

interface Waiting {
  readonly entries: readonly LogEntry[];
  /** Gets the number of entries, from the first one, that are written, and the error of the next one. */
  readonly done: (written: number, error: unknown) => void;
}

/**
 * A log to which lines are appended, and which is rotated by its size. An existing file is never truncated. Errors do not
 * stop it: the next entry is written if it can be, on a line of its own.
 */
export class LogFile {
  private queue: Waiting[] = [];
  private isWriting = false;
  private file: FileHandle | undefined;
  private bytes = 0;
  private isTorn = false;
  private nextRotationMs = -Infinity;
  private tidying: Promise<void> | undefined = undefined;
  /** True if a file was rotated since the last run of tidy() began. */
  private isTidyDue = false;
  private readonly rotated: RotatedFiles;
  private idle: (() => void) | undefined = undefined;

  private constructor(private readonly options: Options) {
    this.rotated = new RotatedFiles(options);
  }

  /** Opens the file. Rejects if it cannot be written. */
  static async open(options: Options): Promise<LogFile> {
    const log = new LogFile(options);
    await mkdir(dirname(options.path), { recursive: true, mode: directoryMode });
    await log.openFile();
    if (options.megabytesMax > 0) log.tidy();
    return log;
  }

  /** Resolves when the entries are written, with the number of those that are, and the error of the next one. */
  append(entries: readonly LogEntry[]): Promise<{ readonly written: number; readonly error: unknown }> {
    return new Promise((resolve) => {
      this.queue.push({ entries, done: (written, error) => resolve({ written, error }) });
      if (!this.isWriting) void this.writeAll();
    });
  }

  /** Resolves when all entries are written and the file is closed. */
  async close(): Promise<void> {
    if (this.isWriting) await new Promise<void>((resolve) => (this.idle = resolve));
    await this.tidying;
    await this.file?.close();
    this.file = undefined;
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.queue.length > 0) {
      const batch = this.queue;
      this.queue = [];
      const entries = batch.length === 1 ? batch[0]!.entries : batch.flatMap((waiting) => waiting.entries);
      const { written, error } = await this.write(entries);
      let left = written;
      for (const waiting of batch) {
        const own = Math.min(left, waiting.entries.length);
        waiting.done(own, own < waiting.entries.length ? error : undefined);
        left -= own;
      }
    }
    this.isWriting = false;
    this.idle?.();
  }

  /** Writes entries until one fails. Returns how many are written. */
  private async write(entries: readonly LogEntry[]): Promise<{ written: number; error: unknown }> {
    let written = 0;
    try {
      while (written < entries.length) {
        const count = this.countThatFit(entries, written);
        if (count === 0) {
          await this.rotate();
          continue;
        }
        const run = entries.slice(written, written + count);
        const done = await this.writeRun(run);
        written += done.entries;
        if (done.error !== undefined) return { written, error: done.error };
      }
      return { written, error: undefined };
    } catch (error) {
      return { written, error };
    }
  }

  /** Returns how many entries are written before the file is rotated; 0 if it has to be first. */
  private countThatFit(entries: readonly LogEntry[], from: number): number {
    const { megabytesMax, clock } = this.options;
    if (megabytesMax === 0 || clock.monotonicMs() < this.nextRotationMs) return entries.length - from;
    let bytes = this.bytes;
    let count = 0;
    for (; from + count < entries.length; count++) {
      for (const piece of entries[from + count]!) bytes += piece.length;
      // A single entry that is larger than a file has a file of its own.
      if (bytes > megabytesMax * megabyte) return count === 0 && this.bytes === 0 ? 1 : count;
    }
    return count;
  }

  private async writeRun(entries: readonly LogEntry[]): Promise<{ entries: number; error: unknown }> {
    const file = (this.file ??= await this.openFile());
    const pieces = entries.flat();
    if (this.isTorn) pieces.unshift(endOfTornLine);
    const skipped = this.isTorn ? endOfTornLine.length : 0;
    let written = 0;
    let error: unknown;
    try {
      for (const buffer of joined(pieces)) {
        for (let at = 0; at < buffer.length;) {
          const { bytesWritten } = await file.write(buffer, at);
          at += bytesWritten;
          written += bytesWritten;
        }
      }
    } catch (reason) {
      error = reason;
    }
    this.bytes += written;
    if (written === 0) return { entries: error === undefined ? entries.length : 0, error };
    let left = written - skipped;
    let complete = 0;
    for (const entry of entries) {
      const length = entry.reduce((sum, piece) => sum + piece.length, 0);
      if (left < length) break;
      left -= length;
      complete++;
    }
    this.isTorn = left > 0;
    return { entries: complete, error };
  }

  private async openFile(mode = ownerOnly): Promise<FileHandle> {
    const file = await open(this.options.path, 'a+', mode);
    const info = await file.stat();
    this.bytes = info.size;
    this.isTorn = info.isFile() && info.size > 0 && (await lastByte(file, info.size)) !== lineFeed;
    this.file = file;
    return file;
  }

  /** Renames the file and opens a new one. If that fails, the old one is used for some time more. */
  private async rotate(): Promise<void> {
    const { path, clock, logger } = this.options;
    try {
      const full = this.file;
      const mode = full ? (await full.stat()).mode & 0o777 : ownerOnly;
      await rename(path, await this.rotated.nextPath(clock.now()));
      await this.openFile(mode);
      await full?.close();
    } catch (error) {
      this.nextRotationMs = clock.monotonicMs() + rotationRetryMs;
      logger.error('the audit log could not be rotated; its last file grows', { file: path, error: reasonOf(error) });
      return;
    }
    this.tidy();
  }

  /** Compresses and removes rotated files in the background, one run at a time. */
  private tidy(): void {
    this.isTidyDue = true;
    this.tidying ??= this.tidyWhileDue().finally(() => (this.tidying = undefined));
  }

  private async tidyWhileDue(): Promise<void> {
    const { clock, logger, path } = this.options;
    while (this.isTidyDue) {
      this.isTidyDue = false;
      try {
        await this.rotated.tidy(clock.now());
      } catch (error) {
        const fields = { file: path, error: reasonOf(error) };
        logger.error('old files of the audit log could not be compressed or removed', fields);
      }
    }
  }
}

async function lastByte(file: FileHandle, size: number): Promise<number> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0]!;
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
