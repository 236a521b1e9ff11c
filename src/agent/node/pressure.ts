import { thresholdAmount, type EvictionSignal, type EvictionThresholds } from './eviction-thresholds.js';
import type { Amount, HostAmounts } from './host-amounts.js';

const pressures = ['memory', 'disk', 'pid'] as const;
export type Pressure = (typeof pressures)[number];

/** Signals of each pressure, with the amount that they limit. */
const signals: Readonly<Record<Pressure, readonly (readonly [EvictionSignal, keyof HostAmounts])[]>> = {
  memory: [['memory.available', 'memory']],
  disk: [
    ['nodefs.available', 'storage'],
    ['nodefs.inodesFree', 'inodes'],
  ],
  pid: [['pid.available', 'processes']],
};

/**
 * Decides which resources are short. A shortage that ended is reported for --eviction-pressure-transition-period more, so
 * that conditions do not change back and forth.
 */
export class PressureObserver {
  private readonly lastSeenMs = new Map<Pressure, number>();

  constructor(
    private readonly thresholds: EvictionThresholds,
    private readonly transitionMs: number,
  ) {}

  /** `nowMs` is monotonic. */
  observe(amounts: HostAmounts, nowMs: number): ReadonlySet<Pressure> {
    const isShort = (signal: EvictionSignal, amount: Amount | undefined) =>
      amount !== undefined && amount.available < thresholdAmount(this.thresholds, signal, amount.capacity);
    return new Set(
      pressures.filter((pressure) => {
        if (signals[pressure].some(([signal, name]) => isShort(signal, amounts[name]))) {
          this.lastSeenMs.set(pressure, nowMs);
        }
        const seenMs = this.lastSeenMs.get(pressure);
        return seenMs !== undefined && (seenMs === nowMs || nowMs - seenMs < this.transitionMs);
      }),
    );
  }
}
