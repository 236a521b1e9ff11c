import type { Revision } from '../machinery/revision.js';
import { RingBuffer } from '../std/ring-buffer.js';

const bucketMs = 1_000;

/**
 * Records when revisions were the latest, to the second:
 *
 *   10:00:01 → up to 17  |  10:00:02 → up to 40  |  10:00:09 → up to 41
 *
 * Revision 17 was superseded by 10:00:03 at the latest, 40 by 10:00:10; 41 is still the latest.
 */
export class RevisionTimeline {
  private readonly buckets = new RingBuffer<{ readonly sinceMs: number; revision: Revision }>();
  private forgottenBelow = 0;

  constructor(private readonly retentionMs: number) {}

  advance(revision: Revision, nowMs: number): void {
    const last = this.buckets.length > 0 ? this.buckets.get(this.buckets.next - 1) : undefined;
    if (last && nowMs - last.sinceMs < bucketMs) last.revision = revision;
    else this.buckets.push({ sinceMs: nowMs, revision });
    this.forget(nowMs);
  }

  /** True if this revision was superseded more than the retention time ago. */
  isExpired(revision: Revision, nowMs: number): boolean {
    this.forget(nowMs);
    return revision < this.forgottenBelow;
  }

  private forget(nowMs: number): void {
    while (this.buckets.length > 0) {
      const oldest = this.buckets.get(this.buckets.first);
      if (nowMs - oldest.sinceMs <= this.retentionMs + bucketMs) return;
      this.forgottenBelow = oldest.revision;
      this.buckets.shift();
    }
  }
}
