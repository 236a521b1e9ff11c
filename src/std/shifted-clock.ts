import type { Clock, Timer } from './clock.js';

/** A clock whose time of day can be shifted. Durations and timers are those of the other clock. */
export class ShiftedClock implements Clock {
  offsetMs = 0;

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return this.clock.monotonicMs();
  }

  after(delayMs: number, task: () => void): Timer {
    return this.clock.after(delayMs, task);
  }
}
