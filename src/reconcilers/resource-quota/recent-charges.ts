import { difference, parseAmounts, sumOfAll, type Amounts } from '../../admission/amounts.js';
import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { Clock } from '../../std/clock.js';

/**
 * Increases of status.used by quota during the last `recentMs`: the objects that were charged may not be stored yet.
 * Unknown until quotas have been followed for that long.
 */
export class RecentCharges {
  private readonly charges = new Map<string, { readonly atMs: number; readonly amounts: Amounts }[]>();
  private readonly sinceMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly recentMs: number,
  ) {
    this.sinceMs = clock.monotonicMs();
  }

  note(key: string, before: ResourceQuota | undefined, after: ResourceQuota | undefined): void {
    if (!after) return void this.charges.delete(key);
    const used = (quota: ResourceQuota | undefined) => parseAmounts(quota?.status?.used);
    const more = [...difference(used(after), used(before))].filter(([, amount]) => amount.sign > 0);
    if (more.length === 0) return;
    this.charges.set(key, [...this.within(key), { atMs: this.clock.monotonicMs(), amounts: new Map(more) }]);
  }

  of(key: string): Amounts | 'unknown' {
    if (this.clock.monotonicMs() - this.sinceMs < this.recentMs) return 'unknown';
    const recent = this.within(key);
    if (recent.length === 0) this.charges.delete(key);
    else this.charges.set(key, recent);
    return sumOfAll(recent.map(({ amounts }) => amounts));
  }

  private within(key: string) {
    const fromMs = this.clock.monotonicMs() - this.recentMs;
    return (this.charges.get(key) ?? []).filter(({ atMs }) => atMs > fromMs);
  }
}
