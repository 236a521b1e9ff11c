import { splicedLength, spliceResourceVersion } from '../codec/stored-object.js';
import type { Revision } from '../machinery/revision.js';
import type { DeferredValue } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { ByteHome } from './byte-home.js';

/** The bytes of an object that are in the store only. */
export class DeferredBytes {
  constructor(
    /** The length of the JSON with the resourceVersion. */
    readonly length: number,
    readonly readValue: DeferredValue['read'],
    /** The home of the bytes once they are read. */
    public home?: ByteHome,
  ) {}

  static of({ length, read }: DeferredValue, revision: Revision): DeferredBytes {
    return new DeferredBytes(splicedLength(length, revision), read);
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
