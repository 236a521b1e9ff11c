/** Weight of the previous smoothed demand at each adjustment: half of it is gone after five minutes. */
const smoothing = 0.977;

/**
 * The demand of a priority level for seats (in use and waited for) over time, summarized at each adjustment of the
 * limits.
 */
export class SeatDemand {
  /** Of the last adjustment period. */
  average = 0;
  deviation = 0;
  highWatermark = 0;
  /** Follows average plus deviation: upwards at once, downwards slowly. */
  smoothed = 0;
  private current = 0;
  private max = 0;
  private sinceMs: number;
  private elapsed = 0;
  private integral = 0;
  private integralOfSquares = 0;

  constructor(nowMs: number) {
    this.sinceMs = nowMs;
  }

  set(seats: number, nowMs: number): void {
    this.advance(nowMs);
    this.current = seats;
    if (seats > this.max) this.max = seats;
  }

  /** Ends the period and computes its statistics. */
  summarize(nowMs: number): void {
    this.advance(nowMs);
    this.highWatermark = this.max;
    if (this.elapsed > 0) {
      this.average = this.integral / this.elapsed;
      this.deviation = Math.sqrt(Math.max(0, this.integralOfSquares / this.elapsed - this.average ** 2));
      const envelope = this.average + this.deviation;
      this.smoothed = Math.max(envelope, smoothing * this.smoothed + (1 - smoothing) * envelope);
    }
    this.max = this.current;
    this.elapsed = this.integral = this.integralOfSquares = 0;
  }

  private advance(nowMs: number): void {
    const passed = nowMs - this.sinceMs;
    this.sinceMs = nowMs;
    this.elapsed += passed;
    this.integral += passed * this.current;
    this.integralOfSquares += passed * this.current * this.current;
  }
}
