import type { Clock } from './clock.js';
import { letOthersRun } from './let-others-run.js';

/** The clock is looked at once in so many steps: a step may be a microsecond. */
const stepsPerLook = 16;

/**
 * Long work shares the event loop: whoever loops asks after every step whether a rest is due, and takes it. Between
 * two rests lies about one slice of time.
 */
export class Breather {
  private steps = 0;
  private sinceMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly sliceMs: number,
  ) {
    this.sinceMs = clock.monotonicMs();
  }

  isDue(): boolean {
    if (++this.steps % stepsPerLook !== 0) return false;
    return this.clock.monotonicMs() - this.sinceMs >= this.sliceMs;
  }

  async rest(): Promise<void> {
    await letOthersRun();
    this.sinceMs = this.clock.monotonicMs();
  }
}
