/**
 * Names in the order in which they were last touched: those to expire stand at the front, since all live equally long.
 * Touching and taking cost the same however many there are.
 *
 *   a@10:00  b@10:01  c@10:05       touch a at 10:07       b@10:01  c@10:05  a@10:07
 */
export class ByAge {
  private readonly touchedMs = new Map<string, number | undefined>();

  get size(): number {
    return this.touchedMs.size;
  }

  /** Undefined where the time is not known, but that it is after all touches before it. */
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
   * Those that were last touched at this time or before, as far as `timeOf` tells what is not known. They are still
   * there until they are forgotten.
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
