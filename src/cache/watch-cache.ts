import { ApiError, type Status } from '../machinery/api-error.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { KeyValue, KvStore, StoreEvent } from '../storage/kv-store.js';
import { assert } from '../std/assert.js';
import type { Clock } from '../std/clock.js';
import { Deferred } from '../std/deferred.js';
import type { Logger } from '../std/logger.js';
import { SortedMap, type SortedView } from '../std/sorted-map.js';
import type { ByteHome } from './byte-home.js';
import { readOlderEvents, type OlderEvents } from './backfill.js';
import { CacheEvent } from './cache-event.js';
import { CacheCounts } from './cache-counts.js';
import type { CacheLimits } from './cache-limits.js';
import { EncodedObject, type Decode } from './encoded-object.js';
import { FanOut } from './fan-out.js';
import { FieldIndexes } from './field-indexes.js';
import { History } from './history.js';
import type { HistoryMemory } from './history-memory.js';
import { StateSnapshot, type Snapshot } from './snapshot.js';
import { LabelIndexes } from './label-indexes.js';
import type { PumpQueue } from './pump-queue.js';
import { UnreadableLog } from './unreadable-log.js';
import { WatchCursor, type CursorHost } from './watch-cursor.js';
import type { EventSink, Subscription, WatchRequest } from './watch-request.js';

export type { Snapshot } from './snapshot.js';
export type { EventSink, Subscription, WatchRequest } from './watch-request.js';

/** Services of the feed that its caches use. */
export interface CacheHost {
  readonly store: KvStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: CacheLimits;
  readonly historyMemory: HistoryMemory;
  readonly byteHome: ByteHome;
  readonly pumpQueue: PumpQueue;
  position(): Revision;
  /** True if the revision was superseded longer ago than snapshots are kept. */
  isExpired(revision: Revision): boolean;
}

export interface WatchCacheOptions {
  /** `/registry/pods/` */
  readonly prefix: string;
  readonly decode: Decode;
  /** Fields by whose value watchers are indexed. */
  readonly indexedFields?: readonly string[];
}

/** A component of this server that follows a resource. Called within apply(), so it must not block or throw. */
export interface CacheObserver {
  changed(event: CacheEvent): void;
  /** Called after the whole state was replaced: after the first load and after an interruption of the feed. */
  reset(): void;
}

/**
 * The latest state of one resource, its recent history, and its watchers. Updated by the feed alone. apply() is
 * synchronous: when it returns, the event is in the state, in the history and with the watchers.
 */
export class WatchCache {
  readonly prefix: string;
  readonly decode: Decode;
  readonly counts = new CacheCounts();
  private readonly unreadableObjects = new Set<string>();
  private state = new SortedMap<EncodedObject>();
  private history: History;
  private readonly fanOut: FanOut;
  private readonly fieldIndexes = new FieldIndexes();
  private readonly labelIndexes: LabelIndexes;
  private readonly unreadable: UnreadableLog;
  private readonly cursors = new Set<WatchCursor>();
  private readonly observers = new Set<CacheObserver>();
  private readonly cursorHost: CursorHost;
  private readonly loaded = new Deferred<void>();
  private isLoaded = false;
  private wasClosed = false;
  private lastRevision = noRevision;
  /** The snapshot taken since the last event, if any, and the number of the last event that keeps one. */
  private currentSnapshot: SortedView<EncodedObject> | undefined;
  private lastKept = Number.MIN_SAFE_INTEGER;
  private backfilling: Promise<void> | undefined;
  /** Revisions that reach() need not try again: compacted by the store, or too many events for the ring. */
  private compactedThrough = -1;
  private tooMuchThrough = -1;
  private bookmarked: { renderingId: string; revision: Revision; frame: Buffer } | undefined;

  constructor(
    options: WatchCacheOptions,
    private readonly host: CacheHost,
  ) {
    this.prefix = options.prefix;
    this.decode = options.decode;
    this.history = new History(host.limits, host.historyMemory, noRevision);
    this.labelIndexes = new LabelIndexes(host.clock);
    this.fanOut = new FanOut(options.prefix, options.indexedFields ?? []);
    this.unreadable = new UnreadableLog(options.prefix, host.logger, host.clock);
    const cache = this as WatchCache;
    this.cursorHost = {
      get history() {
        return cache.history;
      },
      fanOut: this.fanOut,
      pumpQueue: host.pumpQueue,
      sliceEvents: host.limits.replaySliceEvents,
      position: () => host.position(),
      bookmark: (request, revision) => cache.bookmark(request, revision),
      overtaken: (cursor, revision) => void cache.startFromOlderRevision(cursor, revision),
      closed: (cursor) => cache.cursors.delete(cursor),
      failed: (error) =>
        host.logger.error('could not send an event to a watcher; its watch was ended', {
          prefix: options.prefix,
          error,
        }),
    };
  }

  /** Resolves when the state is loaded; rejects with an ApiError if the resource is removed before. */
  get ready(): Promise<void> {
    return this.loaded.promise;
  }
  get isReady(): boolean {
    return this.isLoaded;
  }
  /** True if the cache gets no more events, so that its state is out of date. */
  get isClosed(): boolean {
    return this.wasClosed;
  }
  /** Throws 503 if the resource was removed, or is now served by another cache. */
  checkOpen(): void {
    if (this.wasClosed) throw resourceChanged();
  }
  get watchCount(): number {
    return this.cursors.size;
  }
  /** For metrics: events and bytes of the history, and the limit of events. */
  get historySize(): { readonly events: number; readonly bytes: number; readonly eventsMax: number } {
    const { historyEventsMax: eventsMax } = this.host.limits;
    return { events: this.history.next - this.history.first, bytes: this.history.bytesUsed, eventsMax };
  }

  get(key: string): EncodedObject | undefined {
    return this.state.get(key);
  }

  /** The keys of objects that cannot be decoded or decrypted. */
  get unreadableKeys(): ReadonlySet<string> {
    return this.unreadableObjects;
  }

  /**
   * Replaces unreadable objects by what the same stored values are read as now, for example after a key was configured.
   * Ends all watches, since the objects appear at revisions that watchers have passed.
   */
  recover(objects: Iterable<EncodedObject>): void {
    const unchanged = [...objects].filter(({ key, revision }) => {
      const known = this.state.get(key);
      return known?.corruption !== undefined && known.revision === revision;
    });
    if (unchanged.length === 0) return;
    const state = SortedMap.from(this.takeSnapshot());
    for (const object of unchanged) state.set(object.key, object);
    for (const object of state.range('')) object.hold(this.host.byteHome);
    this.reset(state.snapshot().range(this.prefix), Math.max(this.lastRevision, this.host.position()) as Revision);
  }

  /** Returns the state at the feed's position. */
  snapshot(): Snapshot {
    const state = this.takeSnapshot();
    // Indexes have the current state, without unreadable objects, which lists must report.
    const hasIndexes = () => state === this.currentSnapshot && this.unreadableObjects.size === 0;
    return new StateSnapshot(this.host.position(), state, {
      rangeByFields: (equalities, prefix, from = prefix) =>
        hasIndexes() ? this.fieldIndexes.range(state, equalities, prefix, from) : undefined,
      rangeByLabels: (equalities, prefix, from = prefix) =>
        hasIndexes() ? this.labelIndexes.range(state, equalities, prefix, from) : undefined,
    });
  }

  /** Returns the state at an earlier revision; undefined if it is no longer in memory. */
  snapshotAt(revision: Revision): Snapshot | undefined {
    const position = this.host.position();
    if (revision === position) return this.snapshot();
    if (revision > position || !this.history.covers(revision) || this.host.isExpired(revision)) return undefined;
    return new StateSnapshot(revision, this.stateBefore(this.history.after(revision)));
  }

  /** Starts a watch. A start revision that is too old is reported by an ERROR event; reach() checks it beforehand. */
  subscribe(request: WatchRequest, sink: EventSink): Subscription {
    const cursor = new WatchCursor(request, sink, this.cursorHost);
    if (this.wasClosed) {
      cursor.end();
      return cursor;
    }
    this.cursors.add(cursor);
    if (request.start.kind === 'initial') {
      const state = this.takeSnapshot();
      const objects = request.exactKey ? only(state.get(request.scope)) : state.range(request.scope);
      cursor.startWith(objects, this.host.position(), this.history.next);
    } else if (this.history.covers(request.start.revision)) {
      cursor.startAt(this.history.after(request.start.revision));
    } else {
      void this.startFromOlderRevision(cursor, request.start.revision);
    }
    return cursor;
  }

  /** Adds an observer, and calls reset() if the state is already loaded. Returns a function that removes it. */
  observe(observer: CacheObserver): () => void {
    this.observers.add(observer);
    if (this.isLoaded) observer.reset();
    return () => void this.observers.delete(observer);
  }

  /** Extends the history back to a revision, reading events from the store if they fit. */
  async reach(revision: Revision): Promise<'inHistory' | 'tooMuch' | 'tooOld'> {
    while (!this.history.covers(revision)) {
      if (revision <= this.compactedThrough) return 'tooOld';
      if (revision <= this.tooMuchThrough || !this.history.hasRoomFor(1, 0)) return 'tooMuch';
      await (this.backfilling ??= this.readOlder(revision).finally(() => (this.backfilling = undefined)));
    }
    return 'inHistory';
  }

  /** Applies one event of the feed to state, history and watchers. */
  apply(event: StoreEvent, nowMs: number): void {
    const { key, revision, item } = event;
    assert(revision >= this.lastRevision, `events arrive in order: ${revision} after ${this.lastRevision}`);
    this.lastRevision = revision;
    this.counts.events++;
    const current = item && this.admit(item);
    if (current?.corruption) this.reportUnreadable(current);
    else if (this.unreadableObjects.size > 0) this.unreadableObjects.delete(key);
    const previous = current ? this.state.set(key, current) : this.state.delete(key);
    if (!previous && !current) return;
    if (previous) this.fetch(previous);
    const change = new CacheEvent(revision, key, previous, current, nowMs);
    this.keepSnapshot(change);
    this.history.push(change);
    this.fieldIndexes.update(change);
    this.labelIndexes.update(change);
    this.fanOut.dispatch(change, this.history.next - 1);
    this.notifyObservers((observer) => observer.changed(change));
  }

  /** Replaces the state by objects from admit(), read at `revision`. Drops the history and ends all watches. */
  reset(objects: Iterable<EncodedObject>, revision: Revision): void {
    if (this.wasClosed) {
      for (const object of objects) object.release();
      return;
    }
    const state = new SortedMap<EncodedObject>();
    this.unreadableObjects.clear();
    for (const object of objects) {
      state.set(object.key, object);
      if (object.corruption) this.reportUnreadable(object);
    }
    this.releaseState();
    this.state = state;
    this.history.close();
    this.history = new History(this.host.limits, this.host.historyMemory, revision);
    this.lastRevision = revision;
    this.currentSnapshot = undefined;
    this.fieldIndexes.clear();
    this.labelIndexes.clear();
    this.lastKept = Number.MIN_SAFE_INTEGER;
    this.compactedThrough = -1;
    this.tooMuchThrough = -1;
    for (const cursor of [...this.cursors]) {
      const message = `too old resource version: ${cursor.revision} (${revision})`;
      cursor.end(ApiError.gone(message).toStatus());
    }
    this.isLoaded = true;
    this.counts.loads++;
    this.loaded.resolve();
    this.notifyObservers((observer) => observer.reset());
  }

  /** Keeps the state, ends all watches with 410 and drops the history. */
  expireWatches(): void {
    if (!this.isLoaded) return;
    this.reset(this.takeSnapshot().range(this.prefix), Math.max(this.lastRevision, this.host.position()) as Revision);
  }

  /** Ends all watches, with `status` as the last event if given. */
  close(status?: Status): void {
    this.wasClosed = true;
    this.releaseState();
    this.history.close();
    this.labelIndexes.clear();
    for (const cursor of [...this.cursors]) cursor.end(status);
    this.loaded.reject(resourceChanged());
  }

  /** Drops events of the history that are too old. */
  trimHistory(nowMs: number): void {
    this.history.trim(nowMs);
  }

  /** Calls all observers. An observer that throws does not stop the feed. */
  private notifyObservers(call: (observer: CacheObserver) => void): void {
    for (const observer of this.observers) {
      try {
        call(observer);
      } catch (error) {
        this.host.logger.error('an observer of the watch cache failed, its index may be stale; restart the server', {
          prefix: this.prefix,
          error,
        });
      }
    }
  }

  /** Reads the bytes of a state that the store no longer has as the latest one, before it forgets them. */
  private fetch(replaced: EncodedObject): void {
    try {
      replaced.fetch();
    } catch (error) {
      this.host.logger.warn(
        'could not read the state of an object before a change; watchers do not get the old state',
        {
          key: replaced.key,
          error,
        },
      );
    }
  }

  private releaseState(): void {
    for (const object of this.state.range('')) object.release();
  }

  private reportUnreadable(object: EncodedObject): void {
    this.counts.unreadable++;
    this.unreadableObjects.add(object.key);
    this.unreadable.report(object);
  }

  /** Decodes a value for the state. Its bytes move to their home. They are in memory once with those of the store, or may leave it. */
  admit(item: KeyValue): EncodedObject {
    const object = this.decodeOrCorrupt(item);
    object.hold(this.host.byteHome);
    if (object.corruption) return object;
    if (item.keepIn && object.isStoredAs(item.value)) item.keepIn(object);
    if (item.reread) object.mayReread(item.value, item.reread);
    return object;
  }

  private decodeOrCorrupt(item: KeyValue): EncodedObject {
    try {
      return this.decode(item);
    } catch (error) {
      return EncodedObject.corrupt(item, error as Error);
    }
  }

  private takeSnapshot(): SortedView<EncodedObject> {
    return (this.currentSnapshot ??= this.state.snapshot());
  }

  /** Keeps a snapshot every snapshotSpacingEvents, from which paged lists continue. */
  private keepSnapshot(change: CacheEvent): void {
    if (this.currentSnapshot && this.history.next - this.lastKept >= this.host.limits.snapshotSpacingEvents) {
      change.stateBefore = this.currentSnapshot;
      this.lastKept = this.history.next;
    }
    this.currentSnapshot = undefined;
  }

  /** Computes the state before an event: takes the next younger kept state and undoes the events in between. */
  private stateBefore(number: number): SortedView<EncodedObject> {
    let at = number;
    while (at < this.history.next && !this.history.get(at).stateBefore) at++;
    const nearest = at < this.history.next ? this.history.get(at).stateBefore! : this.takeSnapshot();
    if (at === number) return nearest;
    const past = SortedMap.from(nearest);
    for (let undone = at - 1; undone >= number; undone--) {
      const { key, previous } = this.history.get(undone);
      if (previous) past.set(key, previous);
      else past.delete(key);
    }
    return (this.history.get(number).stateBefore = past.snapshot());
  }

  private async startFromOlderRevision(cursor: WatchCursor, revision: Revision): Promise<void> {
    try {
      const reached = await this.reach(revision);
      if (reached === 'inHistory') cursor.startAt(this.history.after(revision));
      else if (reached === 'tooOld' || !(await this.replay(cursor, revision))) {
        cursor.end(ApiError.gone(`too old resource version: ${revision} (${this.history.floor})`).toStatus());
      }
    } catch (error) {
      this.host.logger.warn('could not read older watch events from the store; the client must list again', {
        prefix: this.prefix,
        revision,
        error,
      });
      cursor.end(
        ApiError.unavailable(
          'could not read the watch events after the given resourceVersion from the store',
          error,
        ).toStatus(),
      );
    }
  }

  /**
   * Sends one watcher events that the ring cannot hold, read from the store at the speed of its connection, until it
   * reaches the ring. Returns false if the store has compacted some of them.
   */
  private async replay(cursor: WatchCursor, revision: Revision): Promise<boolean> {
    const { pastChunkEvents, pastChunkBytes } = this.host.limits;
    const isEnough = (events: number, bytes: number) => events >= pastChunkEvents || bytes >= pastChunkBytes;
    let after = revision;
    while (!this.history.covers(after)) {
      const older = await this.olderEvents(cursor.request.scope, after, isEnough);
      if (!older) return false;
      // The client has disconnected, or got an ERROR event with code 410.
      if (!(await cursor.replay(older.events, older.upTo))) return true;
      after = older.upTo;
    }
    cursor.startAt(this.history.after(after));
    return true;
  }

  private async readOlder(after: Revision): Promise<void> {
    const { history } = this;
    const until = history.floor;
    const older = await this.olderEvents(this.prefix, after, (events, bytes) => !history.hasRoomFor(events, bytes));
    // If the ring has moved on or the feed has restarted meanwhile, the caller tries again.
    if (history !== this.history || history.floor !== until) return;
    if (!older) this.compactedThrough = Math.max(this.compactedThrough, after);
    else if (older.upTo < until) this.tooMuchThrough = Math.max(this.tooMuchThrough, after);
    else history.prepend(older.events, after);
  }

  private olderEvents(
    prefix: string,
    after: Revision,
    isEnough: (events: number, bytes: number) => boolean,
  ): Promise<OlderEvents | undefined> {
    const { store, clock, limits } = this.host;
    const until = this.history.floor;
    return readOlderEvents({ store, prefix, decode: this.decode, after, until, clock, limits, isEnough });
  }

  /** Returns a bookmark frame, shared by watchers with the same rendering. */
  private bookmark(request: WatchRequest, revision: Revision): Buffer {
    const { rendering } = request;
    if (this.bookmarked?.revision !== revision || this.bookmarked.renderingId !== rendering.id) {
      this.bookmarked = { renderingId: rendering.id, revision, frame: rendering.bookmark(revision, false) };
    }
    return this.bookmarked.frame;
  }
}

function* only(object: EncodedObject | undefined): Generator<EncodedObject, undefined, undefined> {
  if (object) yield object;
  return undefined;
}

function resourceChanged(): ApiError {
  return ApiError.unavailable('the definition of this resource changed during the request; please try again');
}
