const windowMs = 1_000;

/** Limits log lines per second, since lines about an overloaded server must not overload it further. */
export class LineRate {
  private windowEndMs = -Infinity;
  private left = 0;
  private omitted = 0;

  constructor(private readonly perSecondMax: number) {}

  /** Returns the number of lines that were omitted before this one; undefined if this one is omitted too. */
  admit(nowMs: number): number | undefined {
    if (nowMs >= this.windowEndMs) {
      this.windowEndMs = nowMs + windowMs;
      this.left = this.perSecondMax;
    }
    if (this.left === 0) {
      this.omitted++;
      return undefined;
    }
    this.left--;
    const { omitted } = this;
    this.omitted = 0;
    return omitted;
  }
}
