import { ManualClock, systemClock, type Timer } from '../../src/std/clock.js';

/** A clock whose delays between retries are recorded and end at once; advance() moves the rest. */
export class RetryClock extends ManualClock {
  readonly delays: number[] = [];
  /** Delays that advance() ends. */
  readonly waits: number[] = [];
  /** Longer delays are those of time limits. */
  constructor(private readonly retryMsMax: number) {
    super();
  }
  override after(delayMs: number, task: () => void): Timer {
    if (delayMs > this.retryMsMax) {
      this.waits.push(delayMs);
      return super.after(delayMs, task);
    }
    this.delays.push(Math.round(delayMs));
    return systemClock.after(0, task);
  }
}
