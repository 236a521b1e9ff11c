import type { Clock } from './clock.js';
import { yieldEventLoop } from './yield-event-loop.js';
import type { Steps } from './steps.js';

/** After a longer stage, other requests run first. */
const sliceMsMax = 10;

/**
 * Lets other requests run between the stages of a long request. Stages of an ordinary request are much shorter than the
 * slice, so it only costs them reading the clock:
 *
 *   if (timer.isDue()) await timer.yield();
 */
export class YieldTimer {
  private sinceMs: number;

  constructor(private readonly clock: Clock) {
    this.sinceMs = clock.monotonicMs();
  }

  /** True if the event loop was blocked longer than a slice since the timer was created or last yielded. */
  isDue(): boolean {
    return this.clock.monotonicMs() - this.sinceMs >= sliceMsMax;
  }

  async yield(): Promise<void> {
    await yieldEventLoop();
    this.sinceMs = this.clock.monotonicMs();
  }

  /** Runs work in steps and yields when due. Returns a promise only if it has yielded. */
  run<T>(steps: Steps<T>): T | Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (this.isDue()) return this.runAfterYield(steps);
    }
  }

  private async runAfterYield<T>(steps: Steps<T>): Promise<T> {
    await this.yield();
    return this.run(steps);
  }
}
