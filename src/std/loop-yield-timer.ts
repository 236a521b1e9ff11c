import type { Clock } from './clock.js';
import { yieldEventLoop } from './yield-event-loop.js';

/** The clock is read once per this many steps, since a step may take only a microsecond. */
const stepsPerClockRead = 16;

/**
 * Yields to the event loop in loops of many short steps: call isDue() after every step, and await yield() if it returns
 * true. Yields about once per `sliceMs`.
 */
export class LoopYieldTimer {
  private steps = 0;
  private sinceMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly sliceMs: number,
  ) {
    this.sinceMs = clock.monotonicMs();
  }

  isDue(): boolean {
    if (++this.steps % stepsPerClockRead !== 0) return false;
    return this.clock.monotonicMs() - this.sinceMs >= this.sliceMs;
  }

  async yield(): Promise<void> {
    await yieldEventLoop();
    this.sinceMs = this.clock.monotonicMs();
  }
}
