import { write } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '../std/clock.js';
import { EntryQueue, PatientWriter, writeEntries, type Appended, type LogEntry } from './log-entries.js';

const writeTo = promisify(write);
const standardOutput = 1;

/**
 * Writes lines to standard output. Not by process.stdout, which makes the whole process wait for a file, and writes nothing
 * more after an error such as a full disk.
 */
export class StandardOutputLog {
  private readonly queue = new EntryQueue((entries) => this.write(entries));
  private readonly writer: PatientWriter;
  private isTorn = false;

  constructor(clock: Clock) {
    this.writer = new PatientWriter(clock);
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

  private async write(entries: readonly LogEntry[]): Promise<Appended> {
    const result = await writeEntries(entries, this.isTorn, (buffer, at) =>
      this.writer.write(() => writeTo(standardOutput, buffer, at)),
    );
    this.isTorn = result.isTorn;
    return result;
  }
}
