/**
 * Names ordered by their last touch. The first ones expire first, since all have the same time to live. Touching and
 * expiring cost the same however many names there are.
 *
 *   a@10:00  b@10:01  c@10:05       touch a at 10:07       b@10:01  c@10:05  a@10:07
 */
export class ByAge {
  private readonly touchedMs = new Map<string, number | undefined>();

  get size(): number {
    return this.touchedMs.size;
  }

  /** `nowMs` is undefined if the time is not known; it is then later than that of all earlier touches. */
  touch(name: string, nowMs: number | undefined): void {
    this.touchedMs.delete(name);
    this.touchedMs.set(name, nowMs);
  }

  forget(name: string): void {
    this.touchedMs.delete(name);
  }

  clear(): void {
    this.touchedMs.clear();
  }

  /**
   * Returns the names whose last touch was at or before the time; `timeOf` supplies unknown times. Does not remove them:
   * call forget().
   */
  *until(timeMs: number, timeOf: (name: string) => number): Generator<string> {
    for (const [name, knownMs] of this.touchedMs) {
      const touchedMs = knownMs ?? timeOf(name);
      if (knownMs === undefined) this.touchedMs.set(name, touchedMs);
      if (touchedMs > timeMs) return;
      yield name;
    }
  }
}
