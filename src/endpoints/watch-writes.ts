import type { Clock } from '../std/clock.js';
import { FollowingBatches, type FrameBatch } from './frame-batch.js';

/** Maximum time of the writes of one iteration of the event loop. */
const sliceMs = 6;
/** The clock is read once per this many writes: each takes 5 to 20 µs. */
const writesPerClockRead = 16;
/** Maximum time that frames wait for others after a long round of writes. */
const waitMsMax = 10;

/** A watch with frames that are not yet written. */
export interface PendingWrite {
  /** Returns the number of frames written. */
  flush(): number;
}

/**
 * Writes to watches at the end of an iteration of the event loop, so that a connection gets all frames of the iteration
 * in one write: encryption, system call and waking the client cost about the same for one frame as for ten.
 *
 * A round with many watches is written in slices. If events come so fast that a round for each of them would take more
 * than half of the time, frames wait for as long as the last round took, so that more of them share a write. A frame
 * after a pause waits for the end of the iteration only.
 */
export class WatchWrites {
  private readonly beginnings = new FollowingBatches();
  /** Watches of the current round, and of the next one: those that got frames since the current one began. */
  private round: PendingWrite[] = [];
  private next: PendingWrite[] = [];
  private done = 0;
  private isScheduled = false;
  private beganMs = 0;
  /** Time and frames that the last round wrote. */
  private spentMs = 0;
  private frames = 0;
  private framesPerWatch = 0;

  constructor(private readonly clock: Clock) {}

  /** Returns the batch of a watch that had no frame to write. */
  begin(watch: PendingWrite, frame: Buffer): FrameBatch {
    this.next.push(watch);
    if (!this.isScheduled) this.schedule();
    return this.beginnings.after(undefined, frame);
  }

  private schedule(): void {
    this.isScheduled = true;
    const isBusy = this.clock.monotonicMs() - this.beganMs < 2 * this.framesPerWatch * this.spentMs;
    const waitMs = isBusy ? Math.min(this.spentMs, waitMsMax) : 0;
    if (waitMs >= 1) this.clock.after(waitMs, this.startRound);
    else setImmediate(this.startRound);
  }

  private readonly startRound = (): void => {
    this.round = this.next;
    this.next = [];
    this.done = 0;
    this.beganMs = this.clock.monotonicMs();
    this.spentMs = 0;
    this.frames = 0;
    // Watches of this round keep their batches. What comes from now on is of the next round.
    this.beginnings.clear();
    this.writeSlice();
  };

  private readonly writeSlice = (): void => {
    const { clock, round } = this;
    const beganMs = clock.monotonicMs();
    let spentMs = 0;
    while (this.done < round.length && spentMs < sliceMs) {
      this.frames += round[this.done++]!.flush();
      if (this.done % writesPerClockRead === 0) spentMs = clock.monotonicMs() - beganMs;
    }
    this.spentMs += clock.monotonicMs() - beganMs;
    if (this.done < round.length) {
      setImmediate(this.writeSlice);
      return;
    }
    this.framesPerWatch = this.frames / round.length;
    this.round = [];
    this.isScheduled = false;
    if (this.next.length > 0) this.schedule();
  };
}
