import { readFile, stat } from 'node:fs/promises';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { CertificateError, reasonOf } from './certificate-error.js';
import { LiveValue, type Live } from './live.js';

const pollMsDefault = 5_000;

export interface LiveFilesOptions<T> {
  readonly files: readonly string[];
  /** Throws when the contents are of no use; the contents are in the order of `files`. */
  readonly parse: (contents: readonly Buffer[]) => T;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pollMs?: number;
}

/**
 * What some files hold together, read again when they change. The paths are polled, not watched: mounted Secrets are
 * replaced by swapping a symlink two levels up, which no file watcher reports reliably. Contents that cannot be read
 * or parsed (a certificate whose key has not been written yet) are tried again at each poll; until they are good, the
 * last good value stays.
 */
export class LiveFiles<T> implements Live<T> {
  private readonly timer: Timer;
  private readonly value: LiveValue<T>;
  private running: Promise<void> | undefined;
  /** The last failure that was logged, so that one failure is logged once. */
  private failure: string | undefined;

  private constructor(
    private readonly options: LiveFilesOptions<T>,
    value: T,
    private contents: readonly Buffer[],
    /** What the files looked like before `contents` was read; undefined after a failure. */
    private appearance: string | undefined,
  ) {
    this.value = new LiveValue(value, options.logger);
    this.timer = every(options.clock, options.pollMs ?? pollMsDefault, () => this.refresh());
  }

  /** Rejects with a CertificateError when the files are not good at the start. */
  static async open<T>(options: LiveFilesOptions<T>): Promise<LiveFiles<T>> {
    try {
      const appearance = await appearanceOf(options.files);
      const contents = await readAll(options.files);
      return new LiveFiles(options, options.parse(contents), contents, appearance);
    } catch (error) {
      if (error instanceof CertificateError) throw error;
      throw new CertificateError(`cannot use ${options.files.join(' and ')}: ${reasonOf(error)}`, { cause: error });
    }
  }

  current(): T {
    return this.value.current();
  }

  onChange(listener: (value: T) => void): () => void {
    return this.value.onChange(listener);
  }

  /** Looks at the files at once instead of at the next poll. */
  refresh(): Promise<void> {
    this.running ??= this.look().finally(() => (this.running = undefined));
    return this.running;
  }

  close(): void {
    this.timer.cancel();
  }

  private async look(): Promise<void> {
    const { files, parse, logger } = this.options;
    try {
      // Taken before reading: a change in between makes the next poll read again.
      const appearance = await appearanceOf(files);
      if (appearance === this.appearance) return;
      const contents = await readAll(files);
      const isSame = contents.every((bytes, index) => bytes.equals(this.contents[index]!));
      if (!isSame) {
        const value = parse(contents);
        this.contents = contents;
        this.value.replace(value);
        logger.info('reloaded files', { files });
      }
      this.appearance = appearance;
      this.failure = undefined;
    } catch (error) {
      this.appearance = undefined;
      const failure = reasonOf(error);
      if (failure !== this.failure)
        logger.error('kept the old contents of files, the new ones are bad', { files, failure });
      this.failure = failure;
    }
  }
}

async function appearanceOf(files: readonly string[]): Promise<string> {
  const stats = await Promise.all(files.map((file) => stat(file, { bigint: true })));
  return stats.map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(':')).join(' ');
}

function readAll(files: readonly string[]): Promise<Buffer[]> {
  return Promise.all(files.map((file) => readFile(file)));
}
