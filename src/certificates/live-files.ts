import { readFile, stat } from 'node:fs/promises';
import { FlagError } from '../config/flag-error.js';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { CertificateError, reasonOf } from './certificate-error.js';
import { LiveValue, type Live } from './live.js';

const pollMsDefault = 5_000;

interface LiveFilesOptions<T> {
  /** The content of the files, for log messages. */
  readonly subject?: string;
  /** The files, or a function that lists them: their names and number may change then. */
  readonly files: readonly string[] | (() => Promise<readonly string[]>);
  /** Parses the contents, in the order of `files`; throws if they are invalid. */
  readonly parse: (contents: readonly Buffer[], files: readonly string[]) => T | Promise<T>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pollMs?: number;
  /**
   * True if a change is used only when two polls in a row find the same files, for contents that could be valid while
   * they are half-written.
   */
  readonly awaitsEndOfChange?: boolean;
  /** Time after which the contents are compared although the attributes of the files have not changed. */
  readonly rereadMs?: number;
  /** Called when changed contents cannot be used, once for the same failure. */
  readonly onFailure?: () => void;
}

/**
 * Value parsed from one or more files, which is reloaded when they change. The paths are polled, since mounted Secrets
 * are replaced by a symlink two levels up, which file watchers do not report reliably. If the new contents are invalid
 * (a certificate whose key has not been written yet), the old value is kept and the files are read again at each poll.
 */
export class LiveFiles<T> implements Live<T> {
  private readonly timer: Timer;
  private readonly value: LiveValue<T>;
  private running: Promise<void> | undefined;
  /** Last logged failure, so that the same failure is logged once. */
  private failure: string | undefined;
  /** Attributes of the last poll, if they have changed and the contents are not read yet. */
  private changedAttributes: string | undefined;
  private nextRereadMs: number;

  private constructor(
    private readonly options: LiveFilesOptions<T>,
    value: T,
    private used: { readonly files: readonly string[]; readonly contents: readonly Buffer[] },
    /** File attributes from before the contents were read; undefined after a failure. */
    private attributes: string | undefined,
  ) {
    this.value = new LiveValue(value, options.logger);
    this.nextRereadMs = this.rereadTime();
    this.timer = every(options.clock, options.pollMs ?? pollMsDefault, () => this.refresh());
  }

  /** Reads the files; rejects if they cannot be read or are invalid. */
  static async open<T>(options: LiveFilesOptions<T>): Promise<LiveFiles<T>> {
    let files: readonly string[] = [];
    try {
      files = await listed(options);
      const attributes = await attributesOf(files);
      const contents = await readAll(files);
      return new LiveFiles(options, await options.parse(contents, files), { files, contents }, attributes);
    } catch (error) {
      if (error instanceof CertificateError || error instanceof FlagError) throw error;
      const subject = typeof options.files === 'function' ? options.subject : files.join(' and ');
      throw new CertificateError(`cannot use ${subject}: ${reasonOf(error)}`, { cause: error });
    }
  }

  current(): T {
    return this.value.current();
  }

  onChange(listener: (value: T) => void): () => void {
    return this.value.onChange(listener);
  }

  /** Checks the files now, instead of at the next poll. */
  refresh(): Promise<void> {
    this.running ??= this.poll().finally(() => (this.running = undefined));
    return this.running;
  }

  close(): void {
    this.timer.cancel();
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async poll(): Promise<void> {
    const { parse, logger, subject = 'certificate files', awaitsEndOfChange = false } = this.options;
    let files: readonly string[] = this.used.files;
    try {
      files = await listed(this.options);
      // Read before the contents: a change in between makes the next poll read again.
      const attributes = await attributesOf(files);
      if (attributes === this.attributes && !(await this.isChangedUnnoticed(files))) return;
      if (awaitsEndOfChange && attributes !== this.changedAttributes) {
        this.changedAttributes = attributes;
        this.attributes = undefined;
        return;
      }
      const contents = await readAll(files);
      if (awaitsEndOfChange && (await attributesOf(files)) !== attributes) {
        this.changedAttributes = undefined;
        return;
      }
      if (!this.isInUse(files, contents)) {
        const value = await parse(contents, files);
        this.used = { files, contents };
        this.value.replace(value);
        logger.info(`reloaded changed ${subject}`, { files });
      }
      this.attributes = attributes;
      this.changedAttributes = undefined;
      this.failure = undefined;
    } catch (error) {
      this.attributes = undefined;
      const failure = reasonOf(error);
      if (failure !== this.failure) {
        logger.error(`changed ${subject} cannot be used; the old contents stay in use, correct the files`, {
          files,
          failure,
        });
        this.options.onFailure?.();
      }
      this.failure = failure;
    }
  }

  /** True if the contents are compared again in this poll, and have changed. */
  private async isChangedUnnoticed(files: readonly string[]): Promise<boolean> {
    if (this.options.clock.monotonicMs() < this.nextRereadMs) return false;
    this.nextRereadMs = this.rereadTime();
    return !this.isInUse(files, await readAll(files));
  }

  private rereadTime(): number {
    return this.options.clock.monotonicMs() + (this.options.rereadMs ?? Infinity);
  }

  private isInUse(files: readonly string[], contents: readonly Buffer[]): boolean {
    const { used } = this;
    return (
      files.length === used.files.length &&
      files.every((file, index) => file === used.files[index] && contents[index]!.equals(used.contents[index]!))
    );
  }
}

async function listed({ files }: Pick<LiveFilesOptions<unknown>, 'files'>): Promise<readonly string[]> {
  return typeof files === 'function' ? files() : files;
}

async function attributesOf(files: readonly string[]): Promise<string> {
  const stats = await Promise.all(files.map((file) => stat(file, { bigint: true })));
  return stats
    .map(({ dev, ino, size, mtimeNs, ctimeNs }, index) => [files[index], dev, ino, size, mtimeNs, ctimeNs].join(':'))
    .join(' ');
}

function readAll(files: readonly string[]): Promise<Buffer[]> {
  return Promise.all(files.map((file) => readFile(file)));
}
