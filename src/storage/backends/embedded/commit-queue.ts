import type { StorageError } from '../../storage-error.js';
import type { Change } from './embedded-file.js';

/** A piece of work that ends with the commit it is part of. */
export interface Job {
  /** About how many bytes it writes. */
  readonly bytes: number;
  /**
   * Adds its changes to those of the jobs before it in the same commit, whose effects it sees. What it throws is its
   * own failure, and it has added nothing then.
   */
  prepare(changes: Change[]): void;
  /** Its changes, if any, are on the disk. */
  done(): void;
  failed(error: unknown): void;
}

const batchJobsMax = 512;
const batchBytesMax = 8 * 1024 * 1024;

export interface CommitQueueParts {
  /** All or none of the changes. */
  commit(changes: readonly Change[]): Promise<void>;
  /** Before the first job of a batch is prepared. */
  begin(): void;
  /** After the commit and before its jobs hear of it. */
  committed(): void;
  /** Nothing was written, or nobody knows. */
  failed(error: StorageError): void;
}

/**
 * Group commit: while one commit is on its way to the disk the jobs of all writers gather, and go together in the
 * next. A single writer waits for nobody.
 */
export class CommitQueue {
  private waiting: Job[] = [];
  private running: Promise<void> | undefined;

  constructor(private readonly parts: CommitQueueParts) {}

  add(job: Job): void {
    this.waiting.push(job);
    this.running ??= this.run();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // Writers of this turn travel together.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.commitSome(this.takeSome());
    this.running = undefined;
  }

  private takeSome(): Job[] {
    let jobs = 0;
    for (let bytes = 0; jobs < this.waiting.length && jobs < batchJobsMax && bytes < batchBytesMax; jobs++) {
      bytes += this.waiting[jobs]!.bytes;
    }
    return this.waiting.splice(0, jobs);
  }

  private async commitSome(jobs: readonly Job[]): Promise<void> {
    this.parts.begin();
    const changes: Change[] = [];
    const prepared = jobs.filter((job) => prepare(job, changes));
    try {
      if (changes.length > 0) await this.parts.commit(changes);
    } catch (error) {
      this.parts.failed(error as StorageError);
      for (const job of prepared) job.failed(error);
      return;
    }
    if (changes.length > 0) this.parts.committed();
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
