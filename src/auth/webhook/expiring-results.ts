import type { Clock } from '../../std/clock.js';

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
  readonly untilMs: number;
}

interface Options {
  /** Zero: nothing is kept. */
  readonly ttlMs: number;
  readonly entriesMax: number;
  readonly bytesMax: number;
  readonly clock: Clock;
}

/**
 * Values that are kept for a time. All have the same time, so the order of insertion, which a Map keeps, is that of their
 * expiry; beyond a limit the oldest are dropped.
 */
export class ExpiringResults<T> {
  private readonly entries = new Map<string, Entry<T>>();
  private bytes = 0;

  constructor(private readonly options: Options) {}

  get(key: string): T | undefined {
    const found = this.entries.get(key);
    return found && found.untilMs > this.options.clock.monotonicMs() ? found.value : undefined;
  }

  /** `bytes` is the approximate size of the value. */
  set(key: string, value: T, bytes: number): void {
    const { ttlMs, entriesMax, bytesMax, clock } = this.options;
    if (ttlMs <= 0 || bytes > bytesMax) return;
    const nowMs = clock.monotonicMs();
    this.remove(key);
    this.entries.set(key, { value, bytes, untilMs: nowMs + ttlMs });
    this.bytes += bytes;
    for (const [oldest, { untilMs }] of this.entries) {
      if (untilMs > nowMs && this.entries.size <= entriesMax && this.bytes <= bytesMax) break;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
