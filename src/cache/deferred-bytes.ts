import { splicedLength, spliceResourceVersion } from '../codec/stored-object.js';
import type { Revision } from '../machinery/revision.js';
import type { DeferredValue } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { ByteHome } from './byte-home.js';

/** Bytes of an object that are not in memory as they are: they are read when somebody needs them. */
export abstract class DeferredBytes {
  /** The home of the bytes once they are read. */
  home: ByteHome | undefined = undefined;

  /** `length` is the length of the JSON with the resourceVersion. */
  constructor(readonly length: number) {}

  /** Returns the JSON with the resourceVersion, whose memory may be that of others too. Throws StorageErrors. */
  abstract read(key: string, revision: Revision): Buffer;

  /** Called when nobody keeps the object any more. Readers may still have it. */
  abstract forget(): void;
}

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
