import { systemClock } from '../std/clock.js';

const intervalMs = 1_000;

/** Tells the number of objects every second. */
export class Progress {
  private readonly beginMs = systemClock.monotonicMs();
  private toldMs = this.beginMs;
  count = 0;

  constructor(
    private readonly verb: string,
    private readonly tell: (line: string) => void,
  ) {}

  add(): void {
    this.count++;
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.toldMs < intervalMs) return;
    this.toldMs = nowMs;
    this.tell(`${this.verb} ${this.count} objects (${Math.round((this.count * 1_000) / (nowMs - this.beginMs))}/s)`);
  }

  /** `2.4 s` */
  get duration(): string {
    return `${((systemClock.monotonicMs() - this.beginMs) / 1_000).toFixed(1)} s`;
  }
}
