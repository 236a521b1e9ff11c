import { splicedLength, spliceResourceVersion } from '../codec/stored-object.js';
import type { Revision } from '../machinery/revision.js';
import type { DeferredValue } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { ByteHome } from './byte-home.js';

/** The bytes of an object that are still in the store. */
export class DeferredBytes {
  readonly length: number;
  /** The home of the bytes once they are read. */
  home: ByteHome | undefined = undefined;

  private readonly readValue: DeferredValue['read'];

  constructor({ length, read }: DeferredValue, revision: Revision) {
    this.length = splicedLength(length, revision);
    this.readValue = read;
  }

  /** Reads the JSON with the resourceVersion. Throws StorageErrors. */
  read(key: string, revision: Revision): Buffer {
    const bytes = spliceResourceVersion(this.readValue(key, revision), revision);
    if (bytes.length === this.length) return bytes;
    throw new StorageError(
      'corrupt',
      `the stored state of ${key} is corrupt: its value has another length than its state says`,
    );
  }
}
