import { constants } from 'node:fs';
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { reasonOf } from '../kubeconfig-client/client-error.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { EntryQueue, EntryWriter, type Appended, type LogEntry } from './log-entries.js';
import { RotatedFiles } from './rotated-files.js';

const megabyte = 1024 * 1024;
/** After a failed rotation, events are appended to the old file for this time. */
const rotationRetryMs = 10_000;
const ownerOnly = 0o600;
const directoryMode = 0o700;
const lineFeed = 0x0a;
/** A named pipe must not block a write, which could not be ended. */
const openFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

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

/**
 * A log to which lines are appended, and which is rotated by its size. An existing file is never truncated. Errors do not
 * stop it: the next entry is written if it can be, on a line of its own.
 */
export class LogFile {
  private readonly queue = new EntryQueue((entries) => this.write(entries));
  private readonly writer: EntryWriter;
  private file: FileHandle | undefined;
  private bytes = 0;
  /** False for a named pipe or a device, which is not rotated. */
  private isRegular = true;
  private nextRotationMs = -Infinity;
  private tidying: Promise<void> | undefined = undefined;
  /** True if a file was rotated since the last run of tidy() began. */
  private isTidyDue = false;
  private readonly rotated: RotatedFiles;

  private constructor(private readonly options: Options) {
    this.rotated = new RotatedFiles(options);
    this.writer = new EntryWriter(options.clock);
  }

  /** Opens the file. Rejects if it cannot be written. */
  static async open(options: Options): Promise<LogFile> {
    const log = new LogFile(options);
    await mkdir(dirname(options.path), { recursive: true, mode: directoryMode });
    await log.openFile();
    if (options.megabytesMax > 0 && log.isRegular) log.tidy();
    return log;
  }

  append(entries: readonly LogEntry[]): Promise<Appended> {
    return this.queue.append(entries);
  }

  /** Resolves when all entries are written and the file is closed. */
  async close(): Promise<void> {
    await this.queue.whenIdle();
    await this.tidying;
    await this.file?.close();
    this.file = undefined;
  }

  /** Stops waiting for the reader, if the file is a named pipe. */
  abandon(): void {
    this.writer.stopWaiting();
  }

  /** Writes entries until one fails. */
  private async write(entries: readonly LogEntry[]): Promise<Appended> {
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
        written += done.written;
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
    if (megabytesMax === 0 || !this.isRegular || clock.monotonicMs() < this.nextRotationMs)
      return entries.length - from;
    let bytes = this.bytes;
    let count = 0;
    for (; from + count < entries.length; count++) {
      for (const piece of entries[from + count]!) bytes += piece.length;
      // A single entry that is larger than a file has a file of its own.
      if (bytes > megabytesMax * megabyte) return count === 0 && this.bytes === 0 ? 1 : count;
    }
    return count;
  }

  private async writeRun(entries: readonly LogEntry[]): Promise<Appended> {
    const file = (this.file ??= await this.openFile());
    const result = await this.writer.write(entries, (buffer, at) => file.write(buffer, at));
    this.bytes += result.bytes;
    return result;
  }

  private async openFile(mode = ownerOnly): Promise<FileHandle> {
    const file = await open(this.options.path, openFlags, mode);
    const info = await file.stat();
    this.bytes = info.size;
    this.isRegular = info.isFile();
    this.writer.isTorn = this.isRegular && info.size > 0 && (await lastByte(file, info.size)) !== lineFeed;
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
