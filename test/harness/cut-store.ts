import type { KvStore, Watch, WatchOptions, WatchSink } from '../../src/storage/kv-store.js';
import type { Revision } from '../../src/machinery/revision.js';
import { StorageError } from '../../src/storage/storage-error.js';

/** A store whose connection can be cut: calls fail with 'unavailable', watches are silent and resume. */
export class CutStore implements KvStore {
  isCut = false;
  revisionCalls = 0;
  rangeCalls = 0;
  progressRequests = 0;
  /** Delays the answers to revision() until it resolves. */
  revisionGate: Promise<void> | undefined;
  private readonly watches = new Set<CutWatch>();

  constructor(private readonly inner: KvStore) {}

  get: KvStore['get'] = async (...args) => this.reach().get(...args);
  txn: KvStore['txn'] = async (...args) => this.reach().txn(...args);
  compact: KvStore['compact'] = (revision) => this.inner.compact(revision);
  close: KvStore['close'] = () => this.inner.close();
  range: KvStore['range'] = async (...args) => {
    this.rangeCalls++;
    return this.reach().range(...args);
  };
  revision: KvStore['revision'] = async (options) => {
    this.revisionCalls++;
    const revision = await this.reach().revision(options);
    await this.revisionGate;
    return revision;
  };

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    const watch = new CutWatch(this.inner, prefix, options, sink);
    this.watches.add(watch);
    if (!this.isCut) watch.connect();
    return {
      requestProgress: () => {
        this.progressRequests++;
        watch.open?.requestProgress();
      },
      close: () => {
        this.watches.delete(watch);
        watch.disconnect();
      },
    };
  }

  cut(): void {
    this.isCut = true;
    for (const watch of this.watches) watch.disconnect();
  }

  mend(): void {
    this.isCut = false;
    for (const watch of this.watches) watch.connect();
  }

  private reach(): KvStore {
    if (this.isCut) throw new StorageError('unavailable', 'the connection is cut');
    return this.inner;
  }
}

class CutWatch {
  open: Watch | undefined;
  private next: Revision;

  constructor(
    private readonly inner: KvStore,
    private readonly prefix: string,
    private readonly options: WatchOptions,
    private readonly sink: WatchSink,
  ) {
    this.next = options.from;
  }

  connect(): void {
    const moved = (revision: Revision) => (this.next = (revision + 1) as Revision);
    this.open = this.inner.watch(
      this.prefix,
      { ...this.options, from: this.next },
      {
        events: (events, revision) => {
          moved(revision);
          this.sink.events(events, revision);
        },
        progress: (revision) => {
          moved(revision);
          this.sink.progress(revision);
        },
        ended: (error) => this.sink.ended(error),
      },
    );
  }

  disconnect(): void {
    this.open?.close();
    this.open = undefined;
  }
}
