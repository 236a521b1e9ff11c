import type { Clock } from '../std/clock.js';

/** The system clock counts milliseconds, so that a good estimate never differs by more. */
const driftMsMax = 2;

/** Converts monotonic times to microseconds since the epoch, more precisely than the clock of the system counts them. */
export class WallTime {
  private offsetMs: number;

  constructor(private readonly clock: Clock) {
    this.offsetMs = clock.now() - clock.monotonicMs();
  }

  nowMicros(): number {
    return this.microsOf(this.clock.monotonicMs());
  }

  microsOf(monotonicMs: number): number {
    const { clock } = this;
    const driftMs = clock.now() - clock.monotonicMs() - this.offsetMs;
    // The clock of the system was set.
    if (Math.abs(driftMs) > driftMsMax) this.offsetMs += driftMs;
    return Math.floor((monotonicMs + this.offsetMs) * 1000);
  }
}

let lastSecond = NaN;
let lastText = '';

/** Formats microseconds since the epoch: `2026-01-01T00:00:00.000000Z`. */
export function microTime(micros: number): string {
  const second = Math.floor(micros / 1e6);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
  }
  return `${lastText}${String(micros - second * 1e6).padStart(6, '0')}Z`;
}
