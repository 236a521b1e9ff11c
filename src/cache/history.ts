import type { Revision } from '../machinery/revision.js';
import { RingBuffer } from '../std/ring-buffer.js';
import type { CacheEvent } from './cache-event.js';
import type { CacheLimits } from './cache-limits.js';
import type { HistoryMemory, LimitedHistory } from './history-memory.js';

/**
 * The latest events of a resource, each with a permanent number. Watchers are positions in this ring:
 *
 *   floor = revision 17       first = 40                     next = 44
 *           v                    v                              v
 *   ... (dropped)           |   40: r18  |  41: r21  |  42: r21  |  43: r30  |
 *
 * It holds every event after `floor`, so a watcher that has seen revision 17 or later can continue from here. Events
 * are kept for historyRetentionMs within the limits; older ones up to historyEventsMin and historyBytesMin.
 */
export class History implements LimitedHistory {
  private readonly ring = new RingBuffer<CacheEvent>();
  private bytes = 0;

  constructor(
    private readonly limits: CacheLimits,
    private readonly memory: HistoryMemory,
    private floorRevision: Revision,
  ) {
    memory.add(this);
  }

  get floor(): Revision {
    return this.floorRevision;
  }
  get first(): number {
    return this.ring.first;
  }
  get next(): number {
    return this.ring.next;
  }
  get bytesUsed(): number {
    return this.bytes;
  }
  /** The last event is never dropped. */
  get canDrop(): boolean {
    return this.ring.length > 1;
  }

  get(number: number): CacheEvent {
    return this.ring.get(number);
  }

  covers(revision: Revision): boolean {
    return revision >= this.floorRevision;
  }

  /** Returns the number of the first event after `revision`. */
  after(revision: Revision): number {
    return this.ring.search((event) => event.revision > revision);
  }

  /** Adds an event, whose previous state was held by the state of the resource, and is by the history from now on. */
  push(event: CacheEvent): void {
    const unframed = this.ring.next - this.limits.framedEventsMax;
    if (unframed >= this.ring.first) this.ring.get(unframed).forgetFrames();
    this.ring.push(event);
    this.changeBytesBy(event.bytes);
    this.trim(event.timeMs);
  }

  /** Prepends older events: all events after `floor`. */
  prepend(events: readonly CacheEvent[], floor: Revision): void {
    let bytes = 0;
    for (let i = events.length - 1; i >= 0; i--) {
      this.ring.unshift(events[i]!);
      events[i]!.previous?.hold();
      bytes += events[i]!.bytes;
    }
    this.floorRevision = floor;
    this.changeBytesBy(bytes);
  }

  /** True if that many more events fit in front without dropping others. */
  hasRoomFor(events: number, bytes: number): boolean {
    const { historyEventsMax, historyBytesMax } = this.limits;
    return (
      this.ring.length + events < historyEventsMax &&
      this.bytes + bytes < historyBytesMax &&
      this.memory.hasRoomFor(bytes)
    );
  }

  /** Drops events beyond the limits; called for every event, and regularly for resources without new events. */
  trim(nowMs: number): void {
    const { historyEventsMax, historyEventsMin, historyBytesMin, historyBytesMax, historyRetentionMs } = this.limits;
    while (this.canDrop) {
      const isMoreThanMin = this.ring.length > historyEventsMin || this.bytes > historyBytesMin;
      const isOld = isMoreThanMin && this.ring.get(this.ring.first).timeMs < nowMs - historyRetentionMs;
      if (!isOld && this.ring.length <= historyEventsMax && this.bytes <= historyBytesMax) return;
      this.drop();
    }
  }

  /** Drops the oldest events until that many bytes are free. */
  dropOldest(bytes: number): void {
    const target = this.bytes - bytes;
    while (this.canDrop && this.bytes > target) this.drop();
  }

  /** Releases the memory of a history that is no longer used. */
  close(): void {
    for (let at = this.first; at < this.next; at++) this.get(at).previous?.release();
    this.memory.remove(this);
  }

  private drop(): void {
    const oldest = this.ring.get(this.ring.first);
    this.ring.shift();
    oldest.previous?.release();
    this.floorRevision = oldest.revision;
    this.changeBytesBy(-oldest.bytes);
  }

  private changeBytesBy(bytes: number): void {
    this.bytes += bytes;
    this.memory.change(this, bytes);
  }
}
