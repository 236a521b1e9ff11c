import { assert } from '../std/assert.js';
import type {
  CallOptions,
  Compare,
  KvStore,
  RangeOptions,
  ReadOptions,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';

/**
 * The part of a store that belongs to one logical cluster: the keys with its prefix. Other keys are an error of this server,
 * whatever the request. Closing it ends the watches and refuses later calls; the store itself stays open.
 */
export class ClusterStore implements KvStore {
  private readonly watches = new Map<Watch, WatchSink>();
  private writing = 0;
  private whenWritten: (() => void) | undefined;
  private isClosed = false;

  constructor(
    private readonly store: KvStore,
    private readonly prefix: string,
  ) {}

  async get(key: string, options?: ReadOptions) {
    this.check(key);
    return this.store.get(key, options);
  }

  async range(prefix: string, options?: RangeOptions) {
    this.check(prefix);
    return this.store.range(prefix, options);
  }

  async txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions) {
    for (const { key } of compares) this.check(key);
    for (const { key } of writes) this.check(key);
    this.writing++;
    try {
      return await this.store.txn(compares, writes, options);
    } finally {
      if (--this.writing === 0) this.whenWritten?.();
    }
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    this.check(prefix);
    const watch = this.store.watch(prefix, options, sink);
    this.watches.set(watch, sink);
    return {
      requestProgress: () => watch.requestProgress(),
      close: () => {
        this.watches.delete(watch);
        watch.close();
      },
    };
  }

  async revision(options?: CallOptions) {
    this.check(this.prefix);
    return this.store.revision(options);
  }

  /** Other clusters have the same history: only the server compacts it. */
  async compact(): Promise<never> {
    throw new StorageError('unavailable', 'the history of the store is not that of one logical cluster');
  }

  /** Resolves when no write of the cluster is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const [watch, sink] of this.watches) {
      watch.close();
      sink.ended(closed());
    }
    this.watches.clear();
    if (this.writing > 0) await new Promise<void>((resolve) => (this.whenWritten = resolve));
  }

  private check(key: string): void {
    if (this.isClosed) throw closed();
    assert(key.startsWith(this.prefix), `${key} belongs to the logical cluster of ${this.prefix}`);
  }
}

const closed = () => new StorageError('closed', 'the logical cluster has left memory');
