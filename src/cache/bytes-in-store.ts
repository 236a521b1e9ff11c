import { splicedLength, spliceResourceVersion } from '../codec/stored-object.js';
import type { Revision } from '../machinery/revision.js';
import type { DeferredValue } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import { DeferredBytes } from './resident.js';

/** Bytes that the store has. */
export class BytesInStore extends DeferredBytes {
  constructor(
    length: number,
    private readonly readValue: DeferredValue['read'],
  ) {
    super(length);
  }

  static of({ length, read }: DeferredValue, revision: Revision): BytesInStore {
    return new BytesInStore(splicedLength(length, revision), read);
  }

  override read(key: string, revision: Revision): Buffer {
    const bytes = spliceResourceVersion(this.readValue(key, revision), revision);
    if (bytes.length === this.length) return bytes;
    throw new StorageError(
      'corrupt',
      `the stored state of ${key} is corrupt: its value has another length than its state says`,
    );
  }

  override forget(): void {
    // The store decides by itself how long it keeps the value.
  }
}
