import { noRevision, revisionOf, type Revision } from '../../../machinery/revision.js';
import { systemClock, type Clock, type Timer } from '../../../std/clock.js';
import { silentLogger, type Logger } from '../../../std/logger.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KvStore,
  RangeOptions,
  RangeResult,
  ReadOptions,
  TxnResult,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { abortedError, checkSignal, checkWrites } from '../call-rules.js';
import { startCompaction } from '../compaction-timer.js';
import { laterKey } from '../later-key.js';
import { search } from '../search.js';
import { WatchHub, type LogEntry } from '../watch-hub.js';
import { CommitQueue } from './commit-queue.js';
import { PendingCommit } from './pending-commit.js';
import { EmbeddedFile, type Change, type View } from './embedded-file.js';
import { storageError } from './lmdb-errors.js';
import { latestState, rangeAt, rangeNow, readLog, replay, stateAt, valueAt } from './history.js';
import { OpenPages } from './open-pages.js';
import * as records from './records.js';
import type { Cancellation } from '../../../std/cancellation.js';

export interface EmbeddedStoreOptions {
  /** Created if it does not exist. Only one process may use it at a time. */
  readonly directory: string;
  /** Writes nothing, not even the owner record. The directory must exist and be unused. */
  readonly isReadOnly?: boolean;
  /** Minimum age of compacted history; 0: none is compacted. */
  readonly historyMs?: number;
  readonly compactionIntervalMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** The last entries of the log are kept in memory, so that watches that keep up read nothing from disk. */
const recentEntriesMax = 1_024;
const recentBytesMax = 16 * 1024 * 1024;
const compactionSliceRevisions = 200;
/** LMDB of the other process cannot use pages again that the original's view holds. */
const originalKeptMs = 10_000;

/**
 * A durable store for one process in one directory: acknowledged writes survive a crash and a power failure. Reads use
 * a snapshot of the last commit; writes go through the commit queue. See docs/adr/004-embedded-format.md.
 */
export class EmbeddedStore implements KvStore {
  private head = noRevision;
  private floor = noRevision;
  /** The highest requested floor; ahead of `floor` until it is durable. */
  private nextFloor = noRevision;
  private pendingCommit: PendingCommit;
  /** Of a store that is still read from the one that it is a copy of: writes wait for the copy. */
  private copying: Promise<unknown> | undefined;
  /** The store that this one is a copy of, with the states up to `head`. */
  private original: { readonly file: EmbeddedFile; readonly head: Revision; readonly timer: Timer } | undefined;
  private recent: LogEntry[] = [];
  private recentBytes = 0;
  private lastTimeMs = 0;
  private isClosed = false;
  private closing: Promise<void> | undefined;
  private readsUnderWay = 0;
  private lastReadDone: (() => void) | undefined;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly timer: Timer | undefined;
  private readonly queue: CommitQueue;
  private readonly hub: WatchHub;
  private readonly pages: OpenPages;

  private constructor(
    private file: EmbeddedFile,
    private readonly options: EmbeddedStoreOptions,
  ) {
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger ?? silentLogger;
    this.pages = new OpenPages(this.clock);
    this.readBounds();
    this.pendingCommit = this.newPendingCommit();
    this.queue = new CommitQueue({
      begin: () => (this.pendingCommit = this.newPendingCommit()),
      commit: (changes) => this.file.commit(changes),
      committed: () => this.advance(),
      failed: (error) =>
        this.logger.error('could not commit to the embedded store, writes fail; check the disk of --data-dir', {
          code: error.code,
          error: error.message,
        }),
    });
    this.hub = new WatchHub({
      head: () => this.head,
      floor: () => this.floor,
      read: (from) => this.logFrom(from),
    });
    if (options.isReadOnly) return;
    this.timer = startCompaction({
      ...options,
      clock: this.clock,
      target: (timeMs) => this.lastRevisionBefore(timeMs),
      compact: (revision) => this.compact(revision),
      failed: (error) =>
        this.logger.warn('could not compact the history of the embedded store; trying again after the next interval', {
          error: String(error),
        }),
    });
  }

  static async open(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
    const { directory, isReadOnly = false, logger = silentLogger } = options;
    const file = isReadOnly ? EmbeddedFile.openReadOnly(directory, logger) : EmbeddedFile.open(directory, logger);
    return new EmbeddedStore(file, options);
  }

  /**
   * Opens a copy, which is made meanwhile, of the store in the directory `source`, which another process may be using. Until
   * the copy is whole, reads are answered from the source at one revision, and writes wait. What was written to the source
   * between that revision and the copy comes as events. `copied` rejects if the copy fails, as do all writes then.
   */
  static async openCopy(
    source: string,
    options: EmbeddedStoreOptions,
  ): Promise<{ readonly store: EmbeddedStore; readonly copied: Promise<'cloned' | 'copied'> }> {
    const { directory, logger = silentLogger } = options;
    const original = EmbeddedFile.openToCopy(source, logger);
    const store = new EmbeddedStore(original, options);
    const copied = original.copyTo(directory).then((how) => {
      store.continueWith(EmbeddedFile.open(directory, logger));
      return how;
    });
    store.copying = copied;
    copied.catch(() => undefined);
    return { store, copied };
  }

  /**
   * Begins to use the copy. The original, whose pages are in memory, serves the ranges that have begun and deferred values for
   * a while.
   */
  private continueWith(file: EmbeddedFile): void {
    const { file: original, head } = this;
    this.original = { file: original, head, timer: this.clock.after(originalKeptMs, () => this.leaveOriginal()) };
    this.file = file;
    this.copying = undefined;
    this.readBounds();
    this.hub.changed();
  }

  private leaveOriginal(): void {
    this.original?.timer.cancel();
    this.original?.file.retire();
    this.original = undefined;
  }

  private readBounds(): void {
    const { view } = this.file;
    const bounds = { start: records.logKey(noRevision), end: records.logKey(revisionOf(Number.MAX_SAFE_INTEGER)) };
    const last = view.lastKey(bounds);
    // An empty store has revision 1, since clients read 0 as "any".
    this.head = last ? records.revisionOfLogKey(last) : revisionOf(1);
    const floor = view.get(records.metaKeys.floor);
    this.floor = floor ? records.decodeRevision(floor) : noRevision;
    this.nextFloor = this.floor;
  }

  async get(key: string, options?: ReadOptions): Promise<GetResult> {
    const revision = this.beginRead(options);
    const { view } = this.file;
    try {
      return {
        item: revision === undefined ? latestState(view, key) : stateAt(view, key, revision),
        revision: this.head,
      };
    } catch (error) {
      throw storageError(this.options.directory, error);
    }
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const older = this.beginRead(options);
    const head = this.head;
    const from = laterKey(prefix, options?.from);
    const limit = options?.limit ?? Infinity;
    const place = { revision: options?.revision ?? head, prefix };
    const page = this.pages.take({ ...place, from });
    const view = page?.view ?? this.file.view.retain();
    const yieldTick = () => this.yieldToOthers(options?.signal);
    return this.reading(view, async () => {
      const isNow = page !== undefined || older === undefined;
      const slice = { prefix, from };
      const readLater = options?.defersValues ? this.readValue : undefined;
      const countsAll = options?.countsAll ?? true;
      const range = isNow
        ? await rangeNow(view, slice, { limit, yieldTick, count: page?.remaining, countsAll, readLater })
        : await rangeAt(view, slice, older, limit, yieldTick);
      const last = range.items.at(-1);
      const remaining = range.count - range.items.length;
      if (isNow && last && remaining > 0) {
        const counted = countsAll || page?.remaining !== undefined ? remaining : undefined;
        this.pages.keep({ ...place, from: `${last.key}\0`, remaining: counted, view: view.retain() });
      }
      return { ...range, revision: head };
    });
  }

  async txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    this.checkOpen();
    checkSignal(options);
    checkWrites(writes);
    return this.enqueue(
      (changes) => this.pendingCommit.apply(compares, writes, changes),
      writes.reduce((bytes, write) => bytes + (write.type === 'put' ? write.value.length : 0), 0),
      options?.signal,
    );
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    return this.hub.watch(prefix, options, sink);
  }

  async revision(options?: CallOptions): Promise<Revision> {
    this.checkOpen();
    checkSignal(options);
    return this.head;
  }

  async compact(revision: Revision): Promise<void> {
    this.checkOpen();
    if (revision > this.head) throw this.futureError(revision);
    if (revision <= this.floor) return;
    await this.enqueue((changes) => {
      if (revision > this.nextFloor) this.nextFloor = revision;
      changes.push({ key: records.metaKeys.floor, value: records.encodeRevision(this.nextFloor) });
    });
    if (revision > this.floor) this.floor = revision;
    this.hub.changed();
    // Each slice shares its commit with concurrent writers, and is short enough not to delay them.
    while (!this.isClosed && (await this.enqueue((changes) => this.compactSlice(changes)))) continue;
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    this.isClosed = true;
    this.timer?.cancel();
    this.hub.close(closedError());
    await this.copying?.catch(() => undefined);
    this.leaveOriginal();
    await this.queue.idle();
    if (this.readsUnderWay > 0) await new Promise<void>((resolve) => (this.lastReadDone = resolve));
    this.pages.close();
    await this.file.close();
  }

  private enqueue<T>(prepare: (changes: Change[]) => T, bytes = 0, signal?: Cancellation): Promise<T> {
    return this.copying
      ? this.copying.then(() => this.enqueueNow(prepare, bytes, signal))
      : this.enqueueNow(prepare, bytes, signal);
  }

  private enqueueNow<T>(prepare: (changes: Change[]) => T, bytes: number, signal?: Cancellation): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      const giveUp = () => reject(abortedError(signal!));
      signal?.addEventListener('abort', giveUp, { once: true });
      this.queue.add({
        bytes,
        prepare: (changes) => {
          // Aborted while waiting: nothing is written.
          if (signal?.aborted) throw abortedError(signal);
          result = prepare(changes);
        },
        done: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve(result);
        },
        failed: (error) => {
          signal?.removeEventListener('abort', giveUp);
          reject(storageError(this.options.directory, error));
        },
      });
    });
  }

  private newPendingCommit(): PendingCommit {
    return new PendingCommit({ view: this.file.view, head: this.head, timeMs: this.timeMs(), reread: this.readValue });
  }

  /** Moves view and head together, so that the revision of every result is that of its data. */
  private advance(): void {
    const { entries, head } = this.pendingCommit;
    this.file.refresh();
    this.head = head;
    for (const entry of entries) this.recentBytes += bytesOf(entry);
    this.recent.push(...entries);
    while (this.recent.length > recentEntriesMax || this.recentBytes > recentBytesMax) {
      this.recentBytes -= bytesOf(this.recent.shift()!);
    }
    this.hub.changed();
  }

  private logFrom(from: Revision): readonly LogEntry[] {
    const first = this.recent[0]?.revision;
    if (first !== undefined && from >= first) return this.recent.slice(from - first);
    return replay(this.file.view, from, this.head);
  }

  /** Removes some of the oldest revisions below the floor. Returns true if there are more. */
  private compactSlice(changes: Change[]): boolean {
    const { view } = this.file;
    let forgotten = 0;
    for (const key of view.keys({ start: records.logKey(noRevision), end: records.logKey(this.floor) })) {
      if (forgotten++ === compactionSliceRevisions) return true;
      const revision = records.revisionOfLogKey(key);
      for (const operation of readLog(view, revision).operations) {
        changes.push({ key: records.historyKey(operation.key, revision), value: undefined });
      }
      changes.push({ key, value: undefined });
    }
    return false;
  }

  private lastRevisionBefore(timeMs: number): Revision | undefined {
    const first = Math.max(this.floor, 2);
    const older = search(
      this.head + 1 - first,
      (at) => readLog(this.file.view, revisionOf(first + at)).timeMs >= timeMs,
    );
    return older > 0 ? revisionOf(first + older - 1) : undefined;
  }

  /** Returns the requested revision; undefined for the latest. */
  private beginRead(options: ReadOptions | undefined): Revision | undefined {
    this.checkOpen();
    checkSignal(options);
    const revision = options?.revision;
    if (revision === undefined) return undefined;
    if (revision > this.head) throw this.futureError(revision);
    if (revision < this.floor) {
      throw new StorageError('compacted', `revision ${revision} is below ${this.floor}, the first one kept`);
    }
    return revision === this.head ? undefined : revision;
  }

  /** Reads from a retained view, which may take several ticks, and releases it; close() waits for it. */
  private async reading<T>(view: View, read: () => Promise<T>): Promise<T> {
    this.readsUnderWay++;
    try {
      return await read();
    } catch (error) {
      throw storageError(this.options.directory, error);
    } finally {
      view.release();
      this.readsUnderWay--;
      if (this.readsUnderWay === 0) this.lastReadDone?.();
    }
  }

  /** Reads a deferred value, or one that was written. */
  private readonly readValue = (key: string, revision: Revision): Buffer => {
    this.checkOpen();
    try {
      const { original, file } = this;
      return valueAt((original && revision <= original.head ? original.file : file).view, key, revision);
    } catch (error) {
      throw storageError(this.options.directory, error);
    }
  };

  private async yieldToOthers(signal: Cancellation | undefined): Promise<void> {
    await new Promise(setImmediate);
    this.checkOpen();
    if (signal?.aborted) throw abortedError(signal);
  }

  /** Never decreases, even if the clock does, because the log is searched by time. */
  private timeMs(): number {
    this.lastTimeMs = Math.max(this.lastTimeMs, this.clock.now());
    return this.lastTimeMs;
  }

  private checkOpen(): void {
    if (this.isClosed) throw closedError();
  }

  private futureError(revision: Revision): StorageError {
    return new StorageError(
      'futureRevision',
      `revision ${revision} has not been reached; the store is at ${this.head}`,
    );
  }
}

function bytesOf({ events }: LogEntry): number {
  let bytes = 0;
  for (const event of events) {
    bytes += (event.item?.value.length ?? 0) + (event.previous?.value.length ?? 0);
  }
  return bytes;
}

const closedError = () => new StorageError('closed', 'the store was closed');
