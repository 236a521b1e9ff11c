import type { Revision } from '../machinery/revision.js';
import { RingBuffer } from '../std/ring-buffer.js';
import type { CacheEvent } from './cache-event.js';
import type { CacheLimits } from './cache-limits.js';

/**
 * The latest events of a resource, each with a permanent number. Watchers are positions in this ring:
 *
 *   floor = revision 17       first = 40                     next = 44
 *           v                    v                              v
 *   ... (dropped)           |   40: r18  |  41: r21  |  42: r21  |  43: r30  |
 *
 * It holds every event after `floor`, so a watcher that has seen revision 17 or later can continue from here. Recent
 * events are kept up to the limits, older ones up to historyEventsMin.
 */
export class History {
  private readonly ring = new RingBuffer<CacheEvent>();
  private bytes = 0;

  constructor(
    private readonly limits: CacheLimits,
    private floorRevision: Revision,
  ) {}

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

  push(event: CacheEvent): void {
    const unframed = this.ring.next - this.limits.framedEventsMax;
    if (unframed >= this.ring.first) this.ring.get(unframed).forgetFrames();
    this.ring.push(event);
    this.bytes += event.bytes;
    this.trim(event.timeMs);
  }

  /** Prepends older events: all events after `floor`. */
  prepend(events: readonly CacheEvent[], floor: Revision): void {
    for (let i = events.length - 1; i >= 0; i--) {
      this.ring.unshift(events[i]!);
      this.bytes += events[i]!.bytes;
    }
    this.floorRevision = floor;
  }

  /** True if that many more events fit in front without dropping others. */
  hasRoomFor(events: number, bytes: number): boolean {
    return this.ring.length + events < this.limits.historyEventsMax && this.bytes + bytes < this.limits.historyBytesMax;
  }

  private trim(nowMs: number): void {
    const { historyEventsMax, historyEventsMin, historyBytesMax, historyRetentionMs } = this.limits;
    while (this.ring.length > 1) {
      const oldest = this.ring.get(this.ring.first);
      const isOld = this.ring.length > historyEventsMin && oldest.timeMs < nowMs - historyRetentionMs;
      if (!isOld && this.ring.length <= historyEventsMax && this.bytes <= historyBytesMax) return;
      this.ring.shift();
      this.bytes -= oldest.bytes;
      this.floorRevision = oldest.revision;
    }
  }
}
