import type { Clock } from './clock.js';
import { letOthersRun } from './let-others-run.js';
import type { Steps } from './steps.js';

/** A stage that took longer is followed by a turn for other requests. */
const sliceMsMax = 10;

/**
 * Lets other requests run between the stages of a long one. Stages of an ordinary request are far shorter than the
 * slice, so all that it costs them is a look at the clock:
 *
 *   if (timer.isDue()) await timer.yield();
 */
export class YieldTimer {
  private sinceMs: number;

  constructor(private readonly clock: Clock) {
    this.sinceMs = clock.monotonicMs();
  }

  /** True if the event loop was held longer than a slice since the timer was made or last yielded. */
  isDue(): boolean {
    return this.clock.monotonicMs() - this.sinceMs >= sliceMsMax;
  }

  async yield(): Promise<void> {
    await letOthersRun();
    this.sinceMs = this.clock.monotonicMs();
  }

  /** Does work in steps, and yields between two of them when that is due; a promise only where it was. */
  run<T>(steps: Steps<T>): T | Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (this.isDue()) return this.goOn(steps);
    }
  }

  private async goOn<T>(steps: Steps<T>): Promise<T> {
    await this.yield();
    return this.run(steps);
  }
}
