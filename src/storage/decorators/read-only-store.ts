import type { KvStore, RangeOptions, ReadOptions, CallOptions, WatchOptions, WatchSink } from '../kv-store.js';
import { StorageError } from '../storage-error.js';

/** Passes reads through and rejects writes. */
export class ReadOnlyStore implements KvStore {
  constructor(private readonly store: KvStore) {}

  get(key: string, options?: ReadOptions) {
    return this.store.get(key, options);
  }

  range(prefix: string, options?: RangeOptions) {
    return this.store.range(prefix, options);
  }

  revision(options?: CallOptions) {
    return this.store.revision(options);
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink) {
    return this.store.watch(prefix, options, sink);
  }

  async txn(): Promise<never> {
    throw refused();
  }

  async compact(): Promise<never> {
    throw refused();
  }

  close() {
    return this.store.close();
  }
}

const refused = () => new StorageError('unavailable', 'the store was opened for reading only');
