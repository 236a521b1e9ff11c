import { write } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '../std/clock.js';
import { EntryQueue, EntryWriter, type Appended, type LogEntry } from './log-entries.js';

const writeTo = promisify(write);
const standardOutput = 1;

/**
 * Writes lines to standard output. Not by process.stdout, which makes the whole process wait for a file, and writes nothing
 * more after an error such as a full disk.
 */
export class StandardOutputLog {
  private readonly queue = new EntryQueue((entries) => this.write(entries));
  private readonly writer: EntryWriter;

  constructor(clock: Clock) {
    this.writer = new EntryWriter(clock);
  }

  append(entries: readonly LogEntry[]): Promise<Appended> {
    return this.queue.append(entries);
  }

  close(): Promise<void> {
    return this.queue.whenIdle();
  }

  /** Stops waiting for the reader. */
  abandon(): void {
    this.writer.stopWaiting();
  }

  private write(entries: readonly LogEntry[]): Promise<Appended> {
    return this.writer.write(entries, (buffer, at) => writeTo(standardOutput, buffer, at));
  }
}
