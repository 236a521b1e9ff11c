import { noRevision, revisionOf, type Revision } from '../../../machinery/revision.js';
import { systemClock, type Clock, type Timer } from '../../../std/clock.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KeyValue,
  KvStore,
  RangeOptions,
  RangeResult,
  ReadOptions,
  StoreEvent,
  TxnResult,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { deleteEvent, putEvent } from '../../store-event.js';
import { checkSignal, checkWrites } from '../call-rules.js';
import { startCompaction } from '../compaction-timer.js';
import { compareUtf8 } from '../../../std/compare-utf8.js';
import type { StoreContent } from '../store-content.js';
import { laterKey } from '../later-key.js';
import { search } from '../search.js';
import { WatchHub, type LogEntry } from '../watch-hub.js';
import { mergeOrdered, SortedKeys } from './sorted-keys.js';
import { copiedItem, StoredItem } from './stored-item.js';

interface MemoryStoreOptions {
  readonly clock?: Clock;
  /** Minimum age of history that is compacted by its age; 0: none is. */
  readonly historyMs?: number;
  readonly compactionIntervalMs?: number;
  /** Beyond this size of superseded and deleted values the oldest history is compacted at any age. */
  readonly historyBytesMax?: number;
}

/** The state of a key since a revision; without an item the key was deleted. */
interface Version {
  readonly revision: Revision;
  readonly item: StoredItem | undefined;
}

/** An event of this store's own items. */
type ItemEvent = StoreEvent & { readonly item?: StoredItem | undefined; readonly previous?: StoredItem | undefined };

interface TimedEntry extends LogEntry {
  readonly timeMs: number;
  /** The memory that only the history retains. */
  readonly bytes: number;
}

const sliceEvents = 1_000;
const defaultHistoryBytesMax = 512 * 1024 * 1024;
/** Part of historyBytesMax that is left after a compaction by size. */
const keptPart = 3 / 4;
/** Size of an event without its values. */
const eventBytes = 300;

/**
 * Keeps everything in memory. Each key has a chain of its states, oldest first:
 *
 *   chains  /a → [3: "x"] [7: "y"]        live  { /a }        log  3: put /a, 5: put /b, 6: delete /b, 7: put /a
 *           /b → [5: "z"] [6: deleted]    gone  { /b }
 *
 * A read at a revision takes the last state that is not younger from the chain of each key in `live` and `gone`.
 * compact() truncates the chains and the log, and drops keys of `gone` without states.
 */
export class MemoryStore implements KvStore {
  private readonly chains = new Map<string, Version[]>();
  private readonly live = new SortedKeys();
  private readonly gone = new SortedKeys();
  private log: TimedEntry[] = [];
  private historyBytes = 0;
  private readonly historyBytesMax: number;
  private isCompactingBySize = false;
  /** An empty store has revision 1, since clients read 0 as "any". */
  private head = revisionOf(1);
  private floor = noRevision;
  private isClosed = false;
  private readonly clock: Clock;
  private readonly timer: Timer | undefined;
  private readonly hub = new WatchHub({
    head: () => this.head,
    floor: () => this.floor,
    read: (from) => this.logFrom(from),
  });

  constructor(options: MemoryStoreOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.historyBytesMax = options.historyBytesMax ?? defaultHistoryBytesMax;
    this.timer = startCompaction({
      ...options,
      clock: this.clock,
      target: (timeMs) => this.log[search(this.log.length, (at) => this.log[at]!.timeMs >= timeMs) - 1]?.revision,
      compact: (revision) => this.compact(revision),
    });
  }

  /** Returns a store that begins with the content of another one. Rejects if the content contradicts itself. */
  static async with(content: StoreContent, options: MemoryStoreOptions): Promise<MemoryStore> {
    const store = new MemoryStore(options);
    try {
      await store.load(content);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async get(key: string, options?: ReadOptions): Promise<GetResult> {
    const at = this.beginRead(options);
    return { item: this.stateOf(key, at)?.snapshot, revision: this.head };
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const at = this.beginRead(options);
    const limit = options?.limit ?? Infinity;
    const from = laterKey(prefix, options?.from);
    const items: KeyValue[] = [];
    for (const key of at === this.head ? this.live.from(from) : mergeOrdered(this.live, this.gone, from)) {
      if (items.length >= limit || !key.startsWith(prefix)) break;
      const item = this.stateOf(key, at);
      if (item) items.push(options?.defersValues ? item.deferredSnapshot : item.snapshot);
    }
    const count = this.live.count(prefix, from) + this.fewerSince(at, prefix, from);
    return { items, revision: this.head, count };
  }

  async txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    this.checkOpen();
    checkSignal(options);
    checkWrites(writes);
    const current = compares.map((compare) => this.latest(compare.key));
    if (compares.some((compare, i) => (current[i]?.modRevision ?? 0) !== compare.modRevision)) {
      return { succeeded: false, revision: this.head, current: current.map((item) => item?.snapshot) };
    }
    const revision = (this.head + 1) as Revision;
    const events: ItemEvent[] = [];
    for (const write of writes) {
      const previous = this.latest(write.key);
      if (write.type === 'put') events.push(putEvent(new StoredItem(write, previous, revision), previous) as ItemEvent);
      else if (previous) events.push(deleteEvent(write.key, revision, previous) as ItemEvent);
    }
    if (events.length > 0) this.append(revision, events);
    return { succeeded: true, revision: this.head };
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
    if (revision > this.head) throw futureError(revision, this.head);
    if (revision <= this.floor) return;
    this.floor = revision;
    const first = this.log[0]?.revision ?? this.head + 1;
    const forgotten = this.log.splice(0, Math.max(0, revision - first));
    for (const { bytes } of forgotten) this.historyBytes -= bytes;
    this.hub.changed();
    for (let at = 0; at < forgotten.length; at++) {
      for (const { key } of forgotten[at]!.events) this.cutChain(key);
      if (at % sliceEvents === sliceEvents - 1) await new Promise(setImmediate);
    }
    for (const { key } of this.log[0]?.events ?? []) this.cutChain(key);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.timer?.cancel();
    this.hub.close(closedError());
  }

  private async load({ floor, pages, revisions }: StoreContent): Promise<void> {
    this.head = revisionOf(Math.max(floor, 1));
    this.floor = floor;
    for await (const items of pages) {
      for (const item of items) {
        const { key, modRevision } = item;
        if (this.chains.has(key) || modRevision > this.head) throw contradiction(key);
        this.chains.set(key, [{ revision: modRevision, item: copiedItem(item) }]);
        this.live.add(key);
      }
    }
    for await (const { revision, events, timeMs } of revisions) {
      if (revision === floor)
        this.remember(
          revision,
          events.map((event) => this.loadedEvent(event)),
          timeMs,
        );
      else if (revision === this.head + 1)
        this.append(
          revision,
          events.map((event) => this.nextEvent(event)),
          timeMs,
        );
      else throw contradiction(`revision ${revision}`);
    }
  }

  /** Returns the event of the floor, whose item is in the state already. */
  private loadedEvent({ type, key, revision, previous }: StoreEvent): ItemEvent {
    const before = previous && copiedItem(previous);
    const item = this.latest(key);
    return (type === 'put' && item ? putEvent(item, before) : deleteEvent(key, revision, before)) as ItemEvent;
  }

  private nextEvent({ key, revision, item }: StoreEvent): ItemEvent {
    const previous = this.latest(key);
    return (item ? putEvent(copiedItem(item), previous) : deleteEvent(key, revision, previous)) as ItemEvent;
  }

  private append(revision: Revision, events: readonly ItemEvent[], timeMs = this.clock.now()): void {
    for (const { key, item } of events) {
      const chain = this.chains.get(key);
      if (chain) {
        const wasLive = chain.at(-1)!.item !== undefined;
        chain.push({ revision, item });
        if (wasLive && !item) this.move(key, this.live, this.gone);
        if (!wasLive && item) this.move(key, this.gone, this.live);
      } else {
        this.chains.set(key, [{ revision, item }]);
        this.live.add(key);
      }
    }
    this.head = revision;
    this.remember(revision, events, timeMs);
    this.hub.changed();
    if (this.historyBytes > this.historyBytesMax && !this.isCompactingBySize) void this.compactBySize();
  }

  private remember(revision: Revision, events: readonly ItemEvent[], timeMs: number): void {
    const bytes = events.reduce((sum, { previous }) => sum + eventBytes + (previous?.byteLength ?? 0), 0);
    // A copy has no room for more, which most revisions would not use.
    this.log.push({ revision, events: events.slice(), timeMs, bytes });
    this.historyBytes += bytes;
  }

  private async compactBySize(): Promise<void> {
    this.isCompactingBySize = true;
    // Lets the hub deliver the latest events before their revisions can be compacted.
    await new Promise(setImmediate);
    let left = this.historyBytes;
    const last = this.log.find(({ bytes }) => (left -= bytes) <= this.historyBytesMax * keptPart);
    if (last && !this.isClosed) await this.compact(revisionOf(Math.min(last.revision + 1, this.head)));
    this.isCompactingBySize = false;
  }

  private move(key: string, from: SortedKeys, to: SortedKeys): void {
    from.remove(key);
    to.add(key);
  }

  /** Drops states that no revision from the floor on can see. */
  private cutChain(key: string): void {
    const chain = this.chains.get(key);
    if (!chain) return;
    const visible = search(chain.length, (at) => chain[at]!.revision > this.floor) - 1;
    if (visible > 0) for (const { item } of chain.splice(0, visible)) item?.drop();
    if (chain[0]!.item || chain[0]!.revision > this.floor) return;
    // The oldest state is a deletion, which reads like no state.
    if (chain.length > 1) return void chain.shift();
    this.chains.delete(key);
    this.gone.remove(key);
  }

  /** Returns the number of keys in the range at the revision, minus the number now. */
  private fewerSince(at: Revision, prefix: string, from: string): number {
    if (at === this.head) return 0;
    const changed = new Set<string>();
    for (const { events } of this.logFrom(revisionOf(Math.max(at, 1) + 1), Infinity)) {
      for (const event of events) changed.add(event.key);
    }
    let fewer = 0;
    for (const key of changed) {
      if (!key.startsWith(prefix) || compareUtf8(key, from) < 0) continue;
      fewer += Number(this.stateOf(key, at) !== undefined) - Number(this.latest(key) !== undefined);
    }
    return fewer;
  }

  private latest(key: string): StoredItem | undefined {
    return this.chains.get(key)?.at(-1)?.item;
  }

  private stateOf(key: string, at: Revision): StoredItem | undefined {
    if (at === this.head) return this.latest(key);
    const chain = this.chains.get(key) ?? [];
    return chain[search(chain.length, (i) => chain[i]!.revision > at) - 1]?.item;
  }

  private logFrom(from: Revision, entriesMax = sliceEvents): readonly LogEntry[] {
    const first = this.log[0]?.revision ?? this.head + 1;
    // Revision 1 is the empty store and has no events.
    if (from < first && from <= 1) return [{ revision: revisionOf(1), events: [] }];
    return this.log.slice(from - first, from - first + entriesMax);
  }

  private beginRead(options: ReadOptions | undefined): Revision {
    this.checkOpen();
    checkSignal(options);
    const at = options?.revision ?? this.head;
    if (at > this.head) throw futureError(at, this.head);
    if (at < this.floor) {
      throw new StorageError('compacted', `revision ${at} is below ${this.floor}, the first one kept`);
    }
    return at;
  }

  private checkOpen(): void {
    if (this.isClosed) throw closedError();
  }
}

const contradiction = (what: string) =>
  new StorageError('corrupt', `the content to begin with contradicts itself: ${what} is not expected there`);
const closedError = () => new StorageError('closed', 'the store was closed');
const futureError = (revision: Revision, head: Revision) =>
  new StorageError('futureRevision', `revision ${revision} has not been reached; the store is at ${head}`);
