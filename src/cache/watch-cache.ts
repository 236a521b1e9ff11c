import { ApiError, type Status } from '../machinery/api-error.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { KvStore, StoreEvent } from '../storage/kv-store.js';
import { assert } from '../std/assert.js';
import type { Clock } from '../std/clock.js';
import { Deferred } from '../std/deferred.js';
import type { Logger } from '../std/logger.js';
import { SortedMap, type SortedView } from '../std/sorted-map.js';
import { readOlderEvents, type OlderEvents } from './backfill.js';
import { CacheEvent } from './cache-event.js';
import { CacheCounts } from './cache-counts.js';
import type { CacheLimits } from './cache-limits.js';
import { EncodedObject, type Decode } from './encoded-object.js';
import { FanOut } from './fan-out.js';
import { FieldIndexes } from './field-indexes.js';
import { History } from './history.js';
import { StateSnapshot, type Snapshot } from './snapshot.js';
import type { Turns } from './turns.js';
import { UnreadableLog } from './unreadable-log.js';
import { WatchCursor, type CursorHost } from './watch-cursor.js';
import type { EventSink, Subscription, WatchRequest } from './watch-request.js';

export type { Snapshot } from './snapshot.js';
export type { EventSink, Subscription, WatchRequest } from './watch-request.js';

/** What the feed lends to the caches of its resources. */
export interface CacheHost {
  readonly store: KvStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: CacheLimits;
  readonly turns: Turns;
  position(): Revision;
  /** Whether the revision stopped being the latest longer ago than snapshots are kept. */
  isExpired(revision: Revision): boolean;
}

export interface WatchCacheOptions {
  /** `/registry/pods/` */
  readonly prefix: string;
  readonly decode: Decode;
  /** Fields whose watchers are found by value. */
  readonly indexedFields?: readonly string[];
}

/** A part of this server that follows a resource. It is called in the middle of apply(): it neither waits nor fails. */
export interface CacheObserver {
  changed(event: CacheEvent): void;
  /** The state is another as a whole: at first, and after the feed was interrupted. */
  reset(): void;
}

/**
 * The latest state of one resource, its recent history, and everybody who watches it. It learns from the feed alone.
 * Nothing in here waits: an event is in the state, in the history and on its way to the watchers when apply() returns.
 */
export class WatchCache {
  readonly prefix: string;
  readonly decode: Decode;
  readonly counts = new CacheCounts();
  private state = new SortedMap<EncodedObject>();
  private history: History;
  private readonly fanOut: FanOut;
  private readonly fieldIndexes = new FieldIndexes();
  private readonly unreadable: UnreadableLog;
  private readonly cursors = new Set<WatchCursor>();
  private readonly observers = new Set<CacheObserver>();
  private readonly cursorHost: CursorHost;
  private readonly loaded = new Deferred<void>();
  private isLoaded = false;
  private wasClosed = false;
  private lastRevision = noRevision;
  /** The state as somebody took it since the last event, and the number of the last event that keeps one. */
  private taken: SortedView<EncodedObject> | undefined;
  private lastKept = Number.MIN_SAFE_INTEGER;
  private backfilling: Promise<void> | undefined;
  /** What is not worth another try: the store has forgotten it, or it is too much for the ring. */
  private compactedThrough = -1;
  private tooMuchThrough = -1;
  private bookmarked: { renderingId: string; revision: Revision; frame: Buffer } | undefined;

  constructor(
    options: WatchCacheOptions,
    private readonly host: CacheHost,
  ) {
    this.prefix = options.prefix;
    this.decode = options.decode;
    this.history = new History(host.limits, noRevision);
    this.fanOut = new FanOut(options.prefix, options.indexedFields ?? []);
    this.unreadable = new UnreadableLog(options.prefix, host.logger, host.clock);
    const cache = this as WatchCache;
    this.cursorHost = {
      get history() {
        return cache.history;
      },
      fanOut: this.fanOut,
      turns: host.turns,
      sliceEvents: host.limits.replaySliceEvents,
      position: () => host.position(),
      bookmark: (request, revision) => cache.bookmark(request, revision),
      overtaken: (cursor, revision) => void cache.startInThePast(cursor, revision),
      closed: (cursor) => cache.cursors.delete(cursor),
      failed: (error) =>
        host.logger.error('an event could not be sent to a watcher', { prefix: options.prefix, error }),
    };
  }

  /** Settles when the first state has been loaded; rejects with an ApiError when the resource was removed before. */
  get ready(): Promise<void> {
    return this.loaded.promise;
  }
  get isReady(): boolean {
    return this.isLoaded;
  }
  /** Nothing reaches it any more: who still has it must not believe that what it holds is the present. */
  get isClosed(): boolean {
    return this.wasClosed;
  }
  /** Throws where the resource is not served any more, or served anew by another cache. */
  checkOpen(): void {
    if (this.wasClosed) throw removed();
  }
  get watchCount(): number {
    return this.cursors.size;
  }
  /** For metrics: events and bytes that only the history holds, and how many events it may hold. */
  get historySize(): { readonly events: number; readonly bytes: number; readonly eventsMax: number } {
    const { historyEventsMax: eventsMax } = this.host.limits;
    return { events: this.history.next - this.history.first, bytes: this.history.bytesUsed, eventsMax };
  }

  get(key: string): EncodedObject | undefined {
    return this.state.get(key);
  }

  /** The state at the feed's position. */
  snapshot(): Snapshot {
    const state = this.takeState();
    return new StateSnapshot(this.host.position(), state, (equalities, prefix, from = prefix) =>
      state === this.taken ? this.fieldIndexes.range(state, equalities, prefix, from) : undefined,
    );
  }

  /** The state as it was at a revision that the feed has passed; undefined when it is no longer known here. */
  snapshotAt(revision: Revision): Snapshot | undefined {
    const position = this.host.position();
    if (revision === position) return this.snapshot();
    if (revision > position || !this.history.covers(revision) || this.host.isExpired(revision)) return undefined;
    return new StateSnapshot(revision, this.stateBefore(this.history.after(revision)));
  }

  /** Starts a watch. It learns of a start that is too old by an ERROR event; reach() tells it beforehand. */
  subscribe(request: WatchRequest, sink: EventSink): Subscription {
    const cursor = new WatchCursor(request, sink, this.cursorHost);
    if (this.wasClosed) {
      cursor.end();
      return cursor;
    }
    this.cursors.add(cursor);
    if (request.start.kind === 'initial') {
      const state = this.takeState();
      const objects = request.exactKey ? only(state.get(request.scope)) : state.range(request.scope);
      cursor.startWith(objects, this.host.position(), this.history.next);
    } else if (this.history.covers(request.start.revision)) {
      cursor.startAt(this.history.after(request.start.revision));
    } else {
      void this.startInThePast(cursor, request.start.revision);
    }
    return cursor;
  }

  /** Begins with reset() when the state is loaded already. The function returned ends it. */
  observe(observer: CacheObserver): () => void {
    this.observers.add(observer);
    if (this.isLoaded) observer.reset();
    return () => void this.observers.delete(observer);
  }

  /** Makes the history reach back to a revision, from the store where need be and where it fits. */
  async reach(revision: Revision): Promise<'inHistory' | 'tooMuch' | 'tooOld'> {
    while (!this.history.covers(revision)) {
      if (revision <= this.compactedThrough) return 'tooOld';
      if (revision <= this.tooMuchThrough || !this.history.hasRoomFor(1, 0)) return 'tooMuch';
      await (this.backfilling ??= this.readOlder(revision).finally(() => (this.backfilling = undefined)));
    }
    return 'inHistory';
  }

  /** One event of the feed: state, history, watchers, in one go. */
  apply(event: StoreEvent, nowMs: number): void {
    const isPut = event.type === 'put';
    const revision = isPut ? event.item.modRevision : event.modRevision;
    assert(revision >= this.lastRevision, `events arrive in order: ${revision} after ${this.lastRevision}`);
    this.lastRevision = revision;
    this.counts.events++;
    const key = isPut ? event.item.key : event.key;
    const current = isPut ? this.ingest(event) : undefined;
    if (current?.corruption) this.reportUnreadable(current);
    const previous = current ? this.state.set(key, current) : this.state.delete(key);
    if (!previous && !current) return;
    const change = new CacheEvent(revision, key, previous, current, nowMs);
    this.keepTakenState(change);
    this.history.push(change);
    this.fieldIndexes.update(change);
    this.fanOut.dispatch(change, this.history.next - 1);
    this.tell((observer) => observer.changed(change));
  }

  /** Starts again from a state that was read at `revision`. What was known before is forgotten, and watches end. */
  reset(objects: Iterable<EncodedObject>, revision: Revision): void {
    const state = new SortedMap<EncodedObject>();
    for (const object of objects) {
      state.set(object.key, object);
      if (object.corruption) this.reportUnreadable(object);
    }
    this.state = state;
    this.history = new History(this.host.limits, revision);
    this.lastRevision = revision;
    this.taken = undefined;
    this.fieldIndexes.clear();
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
    this.tell((observer) => observer.reset());
  }

  /** Ends all watches, with a reason where there is one. */
  close(status?: Status): void {
    this.wasClosed = true;
    for (const cursor of [...this.cursors]) cursor.end(status);
    this.loaded.reject(removed());
  }

  /** Whatever one follower makes of an object that somebody wrote past the server, the feed goes on for all others. */
  private tell(call: (observer: CacheObserver) => void): void {
    for (const observer of this.observers) {
      try {
        call(observer);
      } catch (error) {
        this.host.logger.error('a follower of a resource failed', { prefix: this.prefix, error });
      }
    }
  }

  private reportUnreadable(object: EncodedObject): void {
    this.counts.unreadable++;
    this.unreadable.report(object);
  }

  private ingest(event: StoreEvent & { type: 'put' }): EncodedObject {
    try {
      return this.decode(event.item);
    } catch (error) {
      return EncodedObject.corrupt(event.item, error as Error);
    }
  }

  private takeState(): SortedView<EncodedObject> {
    return (this.taken ??= this.state.snapshot());
  }

  /** Lists go on from states that others took: one every so many events stays at hand. */
  private keepTakenState(change: CacheEvent): void {
    if (this.taken && this.history.next - this.lastKept >= this.host.limits.snapshotSpacingEvents) {
      change.stateBefore = this.taken;
      this.lastKept = this.history.next;
    }
    this.taken = undefined;
  }

  /** The nearest younger state that is at hand, with the events in between undone. */
  private stateBefore(number: number): SortedView<EncodedObject> {
    let at = number;
    while (at < this.history.next && !this.history.get(at).stateBefore) at++;
    const nearest = at < this.history.next ? this.history.get(at).stateBefore! : this.takeState();
    if (at === number) return nearest;
    const past = SortedMap.from(nearest);
    for (let undone = at - 1; undone >= number; undone--) {
      const { key, previous } = this.history.get(undone);
      if (previous) past.set(key, previous);
      else past.delete(key);
    }
    return (this.history.get(number).stateBefore = past.snapshot());
  }

  private async startInThePast(cursor: WatchCursor, revision: Revision): Promise<void> {
    try {
      const reached = await this.reach(revision);
      if (reached === 'inHistory') cursor.startAt(this.history.after(revision));
      else if (reached === 'tooOld' || !(await this.replay(cursor, revision))) {
        cursor.end(ApiError.gone(`too old resource version: ${revision} (${this.history.floor})`).toStatus());
      }
    } catch (error) {
      this.host.logger.warn('older history could not be read', { prefix: this.prefix, revision, error });
      cursor.end(ApiError.unavailable('the history before this watch cannot be read', error).toStatus());
    }
  }

  /**
   * Tells one watcher what the ring cannot hold, straight from the store and at the speed of its connection, until it
   * has come as far as the ring. False when the store has forgotten some of it.
   */
  private async replay(cursor: WatchCursor, revision: Revision): Promise<boolean> {
    const { pastChunkEvents, pastChunkBytes } = this.host.limits;
    const isEnough = (events: number, bytes: number) => events >= pastChunkEvents || bytes >= pastChunkBytes;
    let after = revision;
    while (!this.history.covers(after)) {
      const older = await this.olderEvents(cursor.request.scope, after, isEnough);
      if (!older) return false;
      // The client has gone, or was told to begin anew.
      if (!(await cursor.replay(older.events, older.through))) return true;
      after = older.through;
    }
    cursor.startAt(this.history.after(after));
    return true;
  }

  private async readOlder(after: Revision): Promise<void> {
    const { history } = this;
    const until = history.floor;
    const older = await this.olderEvents(this.prefix, after, (events, bytes) => !history.hasRoomFor(events, bytes));
    // Meanwhile the ring may have moved on, or the feed may have started again: then the question is a new one.
    if (history !== this.history || history.floor !== until) return;
    if (!older) this.compactedThrough = Math.max(this.compactedThrough, after);
    else if (older.through < until) this.tooMuchThrough = Math.max(this.tooMuchThrough, after);
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

  /** Bookmarks come in waves: one frame does for all watchers with the same rendering. */
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

function removed(): ApiError {
  return ApiError.unavailable('the resource has just changed or gone');
}
