import type { Revision } from '../../../machinery/revision.js';
import { every, type Clock, type Timer } from '../../../std/clock.js';
import type { Logger } from '../../../std/logger.js';
import type { ValueReader } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { EmbeddedFile } from './embedded-file.js';
import { valueAt } from './history.js';
import { storageError } from './lmdb-errors.js';

/** LMDB does not use the pages again that an open view refers to, so a view is replaced even if nobody reads. */
const viewMsMax = 250;

interface FileReaderOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reads values of an embedded store that another process has open, from the pages of its file, which are in memory once for
 * all processes. Writes nothing.
 */
export class FileReader implements ValueReader {
  private readonly refreshing: Timer;
  private isClosed = false;

  private constructor(
    private readonly directory: string,
    private readonly file: EmbeddedFile,
    clock: Clock,
  ) {
    this.refreshing = every(clock, viewMsMax, () => this.file.refresh());
  }

  static open({ directory, clock, logger }: FileReaderOptions): FileReader {
    return new FileReader(directory, EmbeddedFile.openToCopy(directory, logger), clock);
  }

  readonly read = (key: string, revision: Revision): Buffer => {
    if (this.isClosed) throw new StorageError('closed', 'the store was closed');
    try {
      return this.readNow(key, revision);
    } catch (error) {
      throw storageError(this.directory, error);
    }
  };

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.refreshing.cancel();
    await this.file.close();
  }

  private readNow(key: string, revision: Revision): Buffer {
    try {
      return valueAt(this.file.view, key, revision);
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'compacted')) throw error;
      // The view may be older than the revision.
      this.file.refresh();
      return valueAt(this.file.view, key, revision);
    }
  }
}
