import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { difference, formatAmounts, sumOf, toResourceList, withoutZeros, type Amounts } from '../amounts.js';
import { forbid } from '../refusal.js';
import { addUsage } from './check-quota.js';
import type { QuotaLedger } from './quota-ledger.js';
import { SerialTasks } from './serial-tasks.js';

/** Attempts to charge a quota while other servers charge it at the same time. */
const chargeAttemptsMax = 8;

/** Usage that a write adds to a quota. */
export interface Charge {
  readonly quota: ResourceQuota;
  readonly delta: Amounts;
}

/** Charges quotas for writes, once over all attempts of a write. */
export class QuotaCharges {
  private readonly charging = new SerialTasks();
  /** Charges of earlier attempts of a write, by the name of the quota. */
  private readonly chargedBy = new WeakMap<object, Map<string, Charge>>();

  constructor(private readonly ledger: QuotaLedger) {}

  /** True if an earlier attempt of the write has charged a quota. */
  hasCharged({ write }: AdmissionAttributes): boolean {
    return write !== undefined && this.chargedBy.has(write);
  }

  /** Charges what earlier attempts of the write have not charged. */
  async charge(attributes: AdmissionAttributes, wanted: readonly Charge[]): Promise<void> {
    const { write, namespace } = attributes;
    const earlier = write && this.chargedBy.get(write);
    const charges = earlier ? remainder(wanted, earlier) : wanted;
    if (charges.length === 0) return;
    // Requests of this server charge one after another, to avoid conflicts; conflicts with other servers are retried.
    await this.charging.run(namespace, () => this.chargeAll(attributes, charges));
  }

  /** Checks all quotas before it charges the first one. */
  private async chargeAll(attributes: AdmissionAttributes, charges: readonly Charge[]): Promise<void> {
    for (const { quota, delta } of charges) await this.check(attributes, quota, delta, { writes: false });
    if (attributes.request.dryRun) return;
    for (const charge of charges) {
      await this.check(attributes, charge.quota, charge.delta, { writes: true });
      this.remember(attributes, charge);
    }
  }

  /** Starts from the cached quota. Before a refusal, and after a conflict, reads the stored one and tries again. */
  private async check(
    attributes: AdmissionAttributes,
    quota: ResourceQuota,
    delta: Amounts,
    { writes }: { readonly writes: boolean },
  ): Promise<void> {
    const { signal } = attributes.request;
    let current: ResourceQuota | undefined = this.ledger.latestKnown(quota);
    let isLatest = false;
    for (let attempt = 0; current && attempt < chargeAttemptsMax; attempt++) {
      const verdict = addUsage(current, delta);
      if (verdict === 'unchanged') return;
      if ('refusal' in verdict) {
        if (isLatest) throw forbid(attributes, verdict.refusal);
      } else if (!writes || (await this.ledger.charge(current, toResourceList(verdict.used), signal))) {
        return;
      }
      current = await this.ledger.latest(quota, signal);
      isLatest = true;
    }
    if (!current) return;
    const { resource, name } = attributes;
    const busy = `the quota ${quota.metadata.name} is charged by many requests at once: ${formatAmounts(delta)}`;
    throw ApiError.conflict(resource, name, busy);
  }

  /** Remembers a charge, for the case that the write is attempted again on a newer state of its object. */
  private remember({ write }: AdmissionAttributes, { quota, delta }: Charge): void {
    if (!write) return;
    const charged = this.chargedBy.get(write) ?? new Map<string, Charge>();
    const { name = '' } = quota.metadata;
    const earlier = charged.get(name);
    charged.set(name, { quota, delta: earlier ? sumOf(earlier.delta, delta) : delta });
    this.chargedBy.set(write, charged);
  }
}

/**
 * Returns what an attempt still has to charge after earlier ones of the same write: a negative amount if they have
 * charged too much, since another writer has changed the object meanwhile.
 */
function remainder(wanted: readonly Charge[], earlier: ReadonlyMap<string, Charge>): Charge[] {
  const dueBy = new Map(wanted.map((charge) => [charge.quota.metadata.name ?? '', charge]));
  for (const [name, { quota, delta }] of earlier) {
    const due = dueBy.get(name);
    dueBy.set(name, { quota: due?.quota ?? quota, delta: withoutZeros(difference(due?.delta ?? new Map(), delta)) });
  }
  return [...dueBy.values()].filter(({ delta }) => delta.size > 0);
}
