const secondsMax = 32;

/**
 * Computes the Retry-After of a priority level's rejections, as kube-apiserver does: it doubles while at least three
 * requests a second are rejected, and falls by one second at a time when rejections become rare.
 */
export class RetryAfter {
  private seconds = 1;
  private raisedAt = 0;
  private readonly history: { readonly second: number; readonly count: number }[] = [];
  private current = 0;
  private count = 0;

  /** Counts a rejection. Returns the Retry-After of its response, in seconds. */
  reject(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    if (second === this.current) {
      this.count++;
      return this.seconds;
    }
    this.history.push({ second: this.current, count: this.count });
    const kept = Math.min(2 * this.seconds, secondsMax);
    while (this.history.length > 0 && second - this.history[0]!.second > kept) this.history.shift();
    this.current = second;
    this.count = 1;
    this.adjust(second);
    return this.seconds;
  }

  private adjust(second: number): void {
    let recent = 0;
    for (const entry of this.history) if (second - entry.second <= this.seconds) recent += entry.count;
    if (second - this.raisedAt >= this.seconds && recent >= 3 * this.seconds) {
      this.seconds = Math.min(2 * this.seconds, secondsMax);
      this.raisedAt = second;
    } else if (recent < this.seconds && this.seconds > 1) this.seconds--;
  }
}
