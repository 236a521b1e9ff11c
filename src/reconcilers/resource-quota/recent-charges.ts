import { difference, readAmounts, sumOfAll, type Amounts } from '../../admission/amounts.js';
import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Clock } from '../../std/clock.js';

/**
 * What was noted as used within the last moments, by quota: objects that it is for may not be stored yet. Before it has
 * followed the quotas for that long, it does not know.
 */
export class RecentCharges {
  private readonly charges = new Map<string, { readonly atMs: number; readonly amounts: Amounts }[]>();
  private readonly sinceMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly settleMs: number,
  ) {
    this.sinceMs = clock.monotonicMs();
  }

  note(key: string, before: KubeObject | undefined, after: KubeObject | undefined): void {
    if (!after) return void this.charges.delete(key);
    const used = (quota: KubeObject | undefined) => readAmounts(asFields(quota?.['status'])['used']);
    const more = [...difference(used(after), used(before))].filter(([, amount]) => amount.sign > 0);
    if (more.length === 0) return;
    this.charges.set(key, [...this.within(key), { atMs: this.clock.monotonicMs(), amounts: new Map(more) }]);
  }

  of(key: string): Amounts | 'unknown' {
    if (this.clock.monotonicMs() - this.sinceMs < this.settleMs) return 'unknown';
    const recent = this.within(key);
    if (recent.length === 0) this.charges.delete(key);
    else this.charges.set(key, recent);
    return sumOfAll(recent.map(({ amounts }) => amounts));
  }

  private within(key: string) {
    const fromMs = this.clock.monotonicMs() - this.settleMs;
    return (this.charges.get(key) ?? []).filter(({ atMs }) => atMs > fromMs);
  }
}
