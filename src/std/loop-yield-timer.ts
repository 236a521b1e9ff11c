import type { Clock } from './clock.js';
import { yieldEventLoop } from './yield-event-loop.js';

/** The clock is read once per this many short steps, since a step may take only a microsecond. */
const stepsPerClockReadMax = 16;
/** The clock is read after each step while the steps between two reads take longer than this share of a slice. */
const shortShare = 1 / 8;

/**
 * Yields to the event loop in loops of many short steps: call isDue() after every step, and await yield() if it returns
 * true. Yields about once per `sliceMs`.
 */
export class LoopYieldTimer {
  private stepsLeft = 1;
  private stepsPerRead = 1;
  private readMs: number;
  private sinceMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly sliceMs: number,
  ) {
    this.readMs = this.sinceMs = clock.monotonicMs();
  }

  isDue(): boolean {
    if (--this.stepsLeft > 0) return false;
    const nowMs = this.clock.monotonicMs();
    const areShort = nowMs - this.readMs < this.sliceMs * shortShare;
    this.stepsPerRead = areShort ? Math.min(2 * this.stepsPerRead, stepsPerClockReadMax) : 1;
    this.stepsLeft = this.stepsPerRead;
    this.readMs = nowMs;
    return nowMs - this.sinceMs >= this.sliceMs;
  }

  async yield(): Promise<void> {
    await yieldEventLoop();
    this.readMs = this.sinceMs = this.clock.monotonicMs();
  }
}
