import type { Clock, Timer } from './clock.js';

/** Calls `expired` once, `idleMsMax` after the last touch(). Has one timer, however often it is touched. */
export class IdleTimer {
  private lastMs: number;
  private timer: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly idleMsMax: number,
    private readonly expired: () => void,
  ) {
    this.lastMs = clock.monotonicMs();
    this.timer = clock.after(idleMsMax, () => this.check());
  }

  touch(): void {
    this.lastMs = this.clock.monotonicMs();
  }

  cancel(): void {
    this.timer.cancel();
  }

  private check(): void {
    const leftMs = this.lastMs + this.idleMsMax - this.clock.monotonicMs();
    if (leftMs <= 0) this.expired();
    else this.timer = this.clock.after(leftMs, () => this.check());
  }
}
