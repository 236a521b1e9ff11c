import type { StorageError } from '../../storage-error.js';
import type { Change } from './embedded-file.js';

/** Work that completes with the commit that contains it. */
interface Job {
  /** The approximate number of bytes it writes. */
  readonly bytes: number;
  /**
   * Adds its changes to those of earlier jobs of the same commit, whose effects it sees. If it throws, only this job
   * fails, and it must not have added any change.
   */
  prepare(changes: Change[]): void;
  /** Called when its changes are durable. */
  done(): void;
  failed(error: unknown): void;
}

const batchJobsMax = 512;
const batchBytesMax = 8 * 1024 * 1024;

interface CommitQueueOptions {
  /** Writes all changes or none. */
  commit(changes: readonly Change[]): Promise<void>;
  /** Called before the first job of a batch is prepared. */
  begin(): void;
  /** Called after the commit, before done() of its jobs. */
  committed(): void;
  /** Called when the commit failed: nothing was written, or the outcome is unknown. */
  failed(error: StorageError): void;
}

/**
 * Group commit: while one commit is being written, the jobs of all writers collect for the next one. A single writer
 * does not wait.
 */
export class CommitQueue {
  private waiting: Job[] = [];
  private running: Promise<void> | undefined;

  constructor(private readonly options: CommitQueueOptions) {}

  add(job: Job): void {
    this.waiting.push(job);
    this.running ??= this.run();
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // Collects the writers of the same tick in one commit.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.commitBatch(this.nextBatch());
    this.running = undefined;
  }

  private nextBatch(): Job[] {
    let jobs = 0;
    for (let bytes = 0; jobs < this.waiting.length && jobs < batchJobsMax && bytes < batchBytesMax; jobs++) {
      bytes += this.waiting[jobs]!.bytes;
    }
    return this.waiting.splice(0, jobs);
  }

  private async commitBatch(jobs: readonly Job[]): Promise<void> {
    this.options.begin();
    const changes: Change[] = [];
    const prepared = jobs.filter((job) => prepare(job, changes));
    try {
      if (changes.length > 0) await this.options.commit(changes);
    } catch (error) {
      this.options.failed(error as StorageError);
      for (const job of prepared) job.failed(error);
      return;
    }
    if (changes.length > 0) this.options.committed();
    for (const job of prepared) job.done();
  }
}

function prepare(job: Job, changes: Change[]): boolean {
  try {
    job.prepare(changes);
    return true;
  } catch (error) {
    job.failed(error);
    return false;
  }
}
