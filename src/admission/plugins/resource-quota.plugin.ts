import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { defineAdmissionPlugin, type AdmissionAttributes, type AdmissionHooks } from '../admission-plugin.js';
import { difference, formatAmounts, parseAmounts, sumOf, toResourceList, type Amounts } from '../amounts.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { addUsage, quotaMatches, uncountableProblem, viewOfQuota } from '../quota/check-quota.js';
import type { Evaluator } from '../quota/evaluator.js';
import { Evaluators } from '../quota/evaluators.js';
import { SerialTasks } from '../quota/serial-tasks.js';
import { uncoveredProblem } from '../quota/uncovered.js';
import { forbid } from '../refusal.js';

/** Attempts to charge a quota while other servers charge it at the same time. */
const chargeAttemptsMax = 8;

interface Charge {
  readonly quota: ResourceQuota;
  readonly delta: Amounts;
}

/**
 * Refuses writes that would exceed a ResourceQuota. The usage is written to the quota before the object is stored, so that
 * concurrent requests cannot exceed it together. The reconciler gives back usage of objects that were not stored.
 */
export const resourceQuota = defineAdmissionPlugin({
  name: 'ResourceQuota',
  runs: 'by default',
  make: makeResourceQuota,
});

function makeResourceQuota({ ledger, naming, clock, configuration }: PluginDependencies): AdmissionHooks {
  const evaluators = new Evaluators(naming);
  const charging = new SerialTasks();
  /** What earlier attempts of a write have charged, by the name of the quota. */
  const chargedBy = new WeakMap<object, Map<string, Charge>>();

  return {
    async validate(attributes) {
      const { namespaced, namespace, object, resource, write } = attributes;
      if (!namespaced || namespace === '' || !object) return;
      const evaluator = evaluators.of(resource);
      if (!evaluator) return;
      const earlier = write && chargedBy.get(write);
      const isCounted = mayCharge(evaluator, attributes);
      if (!isCounted && !earlier) return;
      const wanted = isCounted ? await chargesOf(attributes, evaluator, object) : [];
      const charges = earlier ? remainder(wanted, earlier) : wanted;
      if (charges.length === 0) return;
      // Requests of this server charge one after another, to avoid conflicts; conflicts with other servers are retried.
      await charging.run(namespace, () => chargeAll(attributes, charges));
    },
  };

  async function chargesOf(
    attributes: AdmissionAttributes,
    evaluator: Evaluator,
    object: KubeObject,
  ): Promise<readonly Charge[]> {
    const { old, resource } = attributes;
    const quotas = await quotasFor(attributes, evaluator, object);
    const usage = evaluator.usage(object, clock.now());
    const problem = uncoveredProblem(configuration.quota, { resource, object, usage, evaluator, quotas });
    if (problem !== undefined) throw forbid(attributes, problem);
    if (quotas.length === 0) return [];
    const negative = new Map([...usage].filter(([, amount]) => amount.sign < 0));
    if (negative.size > 0) {
      throw forbid(attributes, `quota usage is negative for resource(s): ${[...negative.keys()].sort().join(',')}`);
    }
    const delta = old ? difference(usage, evaluator.usage(old, clock.now())) : usage;
    // A quota that did not match the old object is charged the whole usage.
    return quotas
      .map((quota) => ({ quota, delta: withoutZeros(old && !quotaMatches(quota, evaluator, old) ? usage : delta) }))
      .filter((charge) => charge.delta.size > 0);
  }

  /** Remembers a charge, for the case that the write is attempted again on a newer state of its object. */
  function remember({ write }: AdmissionAttributes, { quota, delta }: Charge): void {
    if (!write) return;
    const charged = chargedBy.get(write) ?? new Map<string, Charge>();
    const { name = '' } = quota.metadata;
    const earlier = charged.get(name);
    charged.set(name, { quota, delta: earlier ? sumOf(earlier.delta, delta) : delta });
    chargedBy.set(write, charged);
  }

  /** Checks all quotas before it charges the first one. */
  async function chargeAll(attributes: AdmissionAttributes, charges: readonly Charge[]) {
    for (const { quota, delta } of charges) await check(attributes, quota, delta, { writes: false });
    if (attributes.request.dryRun) return;
    for (const charge of charges) {
      await check(attributes, charge.quota, charge.delta, { writes: true });
      remember(attributes, charge);
    }
  }

  async function quotasFor(
    attributes: AdmissionAttributes,
    evaluator: Evaluator,
    object: KubeObject,
  ): Promise<ResourceQuota[]> {
    const { signal } = attributes.request;
    const found: ResourceQuota[] = [];
    for (const cached of ledger.quotas(attributes.namespace)) {
      // The store may have a newer status.
      const quota = hasCompleteStatus(cached) ? cached : await ledger.latest(cached, signal);
      if (!quota || !quotaMatches(quota, evaluator, object)) continue;
      const problem = uncountableProblem(quota, evaluator, object);
      if (problem !== undefined) throw forbid(attributes, problem);
      found.push(quota);
    }
    return found;
  }

  /** Starts from the cached quota. Before a refusal, and after a conflict, reads the stored one and tries again. */
  async function check(
    attributes: AdmissionAttributes,
    quota: ResourceQuota,
    delta: Amounts,
    { writes }: { readonly writes: boolean },
  ) {
    const { signal } = attributes.request;
    let current: ResourceQuota | undefined = ledger.latestKnown(quota);
    let isLatest = false;
    for (let attempt = 0; current && attempt < chargeAttemptsMax; attempt++) {
      const verdict = addUsage(current, delta);
      if (verdict === 'unchanged') return;
      if ('refusal' in verdict) {
        if (isLatest) throw forbid(attributes, verdict.refusal);
      } else if (!writes || (await ledger.charge(current, toResourceList(verdict.used), signal))) {
        return;
      }
      current = await ledger.latest(quota, signal);
      isLatest = true;
    }
    if (!current) return;
    const { resource, name } = attributes;
    const busy = `the quota ${quota.metadata.name} is charged by many requests at once: ${formatAmounts(delta)}`;
    throw ApiError.conflict(resource, name, busy);
  }
}

/** True if the write may change the usage of a quota, or which quotas match the object. */
function mayCharge(evaluator: Evaluator, { operation, subresource, object, old }: AdmissionAttributes): boolean {
  if (evaluator.handles(operation, subresource)) return true;
  if (operation !== 'UPDATE' || subresource !== '' || !object || !old) return false;
  return evaluator.changesScope?.(object, old) ?? false;
}

/** True if status.hard has all limits of spec.hard: otherwise the quota was read before its usage was first counted. */
function hasCompleteStatus(quota: ResourceQuota): boolean {
  const { hard } = viewOfQuota(quota);
  return [...parseAmounts(quota.spec?.hard).keys()].every((name) => hard.has(name));
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

function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => !amount.isZero));
}
