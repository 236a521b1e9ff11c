import { ApiError, type Status } from '../machinery/api-error.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import { Deferred } from '../std/deferred.js';
import { NotReady } from '../std/not-ready.js';
import type { CacheEvent } from './cache-event.js';
import type { EncodedObject } from './encoded-object.js';
import type { ActiveWatcher, FanOut, WatcherBucket } from './fan-out.js';
import type { History } from './history.js';
import type { Pump, PumpQueue } from './pump-queue.js';
import type { EventSink, Subscription, WatchRequest } from './watch-request.js';

/** The parts of the cache that cursors use, shared by all cursors of the cache. */
export interface CursorHost {
  readonly history: History;
  readonly fanOut: FanOut;
  readonly pumpQueue: PumpQueue;
  readonly sliceEvents: number;
  position(): Revision;
  bookmark(request: WatchRequest, revision: Revision): Buffer;
  /** The ring has dropped the next events of a cursor: those after this revision. */
  overtaken(cursor: WatchCursor, revision: Revision): void;
  closed(cursor: WatchCursor): void;
  failed(error: unknown): void;
}

/**
 * One watch: a position in the history, never a queue.
 *
 *   waiting --> initial --> behind <--> active --> closed
 *   (older      (walks a    (walks       (the fan-out
 *   history     snapshot)   the ring)    delivers events)
 *   is read or sent in chunks)
 *
 * When the sink is full the cursor leaves the active ones, remembers the number of the next event, and continues there
 * when the sink is drained. If the ring has dropped that event, the client gets 410 and must list again. If the ring
 * drops events while the cursor catches up, the rest is read from the store.
 */
export class WatchCursor implements Subscription, ActiveWatcher, Pump {
  bucket: WatcherBucket | undefined = undefined;
  bucketIndex = 0;
  lastSeen = Number.MIN_SAFE_INTEGER;
  private phase: 'waiting' | 'initial' | 'behind' | 'active' | 'closed' = 'waiting';
  private isBlocked = false;
  /** True if the next frame needs the answer of another server. */
  private isUnready = false;
  private isQueued = false;
  private next = 0;
  private initial: Iterator<EncodedObject, undefined> | undefined = undefined;
  /** The object of `initial` that was not ready. */
  private delayed: EncodedObject | undefined = undefined;
  private past: PastEvents | undefined = undefined;
  /** The client has all events up to this revision. */
  private seen: Revision;
  /** True if nothing beyond `seen` was sent, so that reading from the store can continue there. */
  private isSeenWhole = true;

  constructor(
    readonly request: WatchRequest,
    private readonly sink: EventSink,
    private readonly host: CursorHost,
  ) {
    this.seen = request.start.kind === 'after' ? request.start.revision : noRevision;
  }

  /** Sends `objects`, the state at `revision`, then events from number `next` on. */
  startWith(objects: Iterator<EncodedObject, undefined>, revision: Revision, next: number): void {
    this.initial = objects;
    this.seen = revision;
    this.next = next;
    this.phase = 'initial';
    this.queueUp();
  }

  startAt(next: number): void {
    if (this.phase === 'closed') return;
    this.next = next;
    this.phase = 'behind';
    if (next === this.host.history.next && !this.isBlocked) this.activate();
    else this.queueUp();
  }

  /**
   * Sends events older than the ring, which include all up to `upTo`. Resolves when they were sent: false if the
   * watch has ended.
   */
  replay(events: readonly CacheEvent[], upTo: Revision): Promise<boolean> {
    if (this.phase !== 'waiting') return Promise.resolve(false);
    this.past = new PastEvents(events, upTo);
    this.queueUp();
    return this.past.sent.promise;
  }

  get revision(): Revision {
    const { history } = this.host;
    if (this.phase === 'initial') return noRevision;
    if (this.phase === 'waiting' && this.past) return this.past.revision;
    if (this.phase === 'closed' || this.phase === 'waiting') return this.seen;
    const position = this.host.position();
    if (this.phase === 'active' || this.next >= history.next) return Math.max(this.seen, position) as Revision;
    if (this.next < history.first) return this.seen;
    // The next event may be the second one of its revision.
    return Math.max(this.seen, Math.min(history.get(this.next).revision - 1, position)) as Revision;
  }

  drained(): void {
    if (!this.isBlocked || this.isUnready) return;
    this.isBlocked = false;
    if (this.hasMore) this.queueUp();
  }

  close(): void {
    if (this.phase === 'closed') return;
    this.seen = this.revision;
    this.phase = 'closed';
    this.initial = undefined;
    this.past?.sent.resolve(false);
    this.past = undefined;
    this.host.fanOut.remove(this);
    this.host.closed(this);
  }

  end(status?: Status): void {
    if (this.phase === 'closed') return;
    this.close();
    try {
      if (status) this.sink.write(this.request.rendering.error(status));
      this.sink.end();
    } catch (error) {
      // A broken sink must not affect other watchers.
      this.host.failed(error);
    }
  }

  sendBookmark(): void {
    if (!this.request.bookmarks || this.phase !== 'active' || this.host.position() < this.seen) return;
    if (!this.sink.write(this.host.bookmark(this.request, this.revision))) this.stall();
  }

  deliver(event: CacheEvent): void {
    if (event.revision <= this.seen || this.phase !== 'active') return;
    if (this.send(event)) return;
    const { isUnready } = this;
    this.stall();
    // Earlier revisions are complete; this revision may have more events.
    const complete = (event.revision - 1) as Revision;
    this.seen = isUnready ? complete : (Math.max(this.seen, complete) as Revision);
    if (isUnready) this.next = this.lastSeen;
    this.isSeenWhole = false;
  }

  pump(): void {
    this.isQueued = false;
    let budget = this.host.sliceEvents;
    while (this.past && !this.isBlocked && budget-- > 0) this.sendPast(this.past);
    while (this.phase === 'initial' && !this.isBlocked && budget-- > 0) this.sendInitial();
    while (this.phase === 'behind' && !this.isBlocked && budget-- > 0) this.catchUp();
    if (this.hasMore) this.queueUp();
  }

  private get hasMore(): boolean {
    return this.past !== undefined || this.phase === 'initial' || this.phase === 'behind';
  }

  private sendPast(past: PastEvents): void {
    const event = past.events[past.next++];
    if (event) {
      this.isBlocked = !this.send(event);
      if (this.isUnready) past.next--;
      return;
    }
    this.past = undefined;
    this.seen = past.upTo;
    past.sent.resolve(true);
  }

  private sendInitial(): void {
    const { rendering, matches, initialEventsEnd } = this.request;
    const step = this.delayed ? { done: false as const, value: this.delayed } : this.initial!.next();
    this.delayed = undefined;
    if (step.done) {
      this.initial = undefined;
      this.phase = 'behind';
      if (initialEventsEnd) this.isBlocked = !this.sink.write(rendering.bookmark(this.seen, true));
      return;
    }
    const object = step.value;
    if (object.corruption || (matches && !matches(object.attributes))) return;
    try {
      this.isBlocked = !this.sink.write(rendering.frame('ADDED', object.rendered(rendering)));
    } catch (error) {
      this.isBlocked = this.awaits(error);
      if (this.isUnready) this.delayed = object;
    }
  }

  private catchUp(): void {
    const { history } = this.host;
    if (this.next < history.first) {
      if (this.isSeenWhole) {
        this.phase = 'waiting';
        return this.host.overtaken(this, this.seen);
      }
      const message = `too old resource version: ${this.seen} (${history.floor})`;
      return this.end(ApiError.gone(message).toStatus());
    }
    if (this.next === history.next) return this.activate();
    const event = history.get(this.next++);
    if (event.revision <= this.seen) return;
    this.seen = (event.revision - 1) as Revision;
    this.isBlocked = !this.send(event);
    if (this.isUnready) {
      this.next--;
      this.isSeenWhole = false;
      return;
    }
    // Revisions are applied as a whole, so the last event of the ring completes its revision.
    const isWhole = this.next === history.next || history.get(this.next).revision > event.revision;
    this.isSeenWhole = isWhole;
    if (isWhole && this.phase === 'behind') this.seen = event.revision;
  }

  /** Returns false if the sink is full, or if the event was not sent because it is not ready. */
  private send(event: CacheEvent): boolean {
    const { scope, exactKey, matches, rendering } = this.request;
    if (exactKey ? event.key !== scope : !event.key.startsWith(scope)) return true;
    const type = event.typeFor(matches);
    if (!type) return true;
    try {
      return this.sink.write(event.frame(rendering, type));
    } catch (error) {
      return !this.awaits(error);
    }
  }

  /** Continues when the frame is ready. Returns false for other errors, which end the watch. */
  private awaits(error: unknown): boolean {
    if (!(error instanceof NotReady)) {
      this.fail(error);
      return false;
    }
    this.isUnready = true;
    const resume = () => {
      this.isUnready = false;
      this.drained();
    };
    error.ready.then(resume, (reason: unknown) => this.fail(reason));
    return true;
  }

  private activate(): void {
    this.phase = 'active';
    this.host.fanOut.add(this);
  }

  private stall(): void {
    if (this.phase !== 'active') return;
    this.host.fanOut.remove(this);
    this.phase = 'behind';
    this.isBlocked = true;
    this.next = this.host.history.next;
    this.seen = Math.max(this.seen, this.host.position()) as Revision;
  }

  private fail(error: unknown): void {
    if (this.phase === 'closed') return;
    this.host.failed(error);
    const known =
      error instanceof ApiError ? error : ApiError.internal('an event of this watch cannot be shown', error);
    this.end(known.toStatus());
  }

  private queueUp(): void {
    if (this.isQueued || this.isBlocked) return;
    this.isQueued = true;
    this.host.pumpQueue.add(this);
  }
}

/** A chunk of events from before the ring. */
class PastEvents {
  next = 0;
  readonly sent = new Deferred<boolean>();

  constructor(
    readonly events: readonly CacheEvent[],
    readonly upTo: Revision,
  ) {}

  /** The last revision that was sent completely; the next event may be the second one of its revision. */
  get revision(): Revision {
    const next = this.events[this.next];
    return next ? ((next.revision - 1) as Revision) : this.upTo;
  }
}
