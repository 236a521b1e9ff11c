import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { defineAdmissionPlugin, type AdmissionAttributes, type AdmissionHooks } from '../admission-plugin.js';
import { difference, parseAmounts, withoutZeros } from '../amounts.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { quotaMatches, uncountableProblem, viewOfQuota } from '../quota/check-quota.js';
import type { Evaluator } from '../quota/evaluator.js';
import { Evaluators } from '../quota/evaluators.js';
import { QuotaCharges, type Charge } from '../quota/quota-charges.js';
import { limitsOf, uncoveredProblem } from '../quota/uncovered.js';
import { forbid } from '../refusal.js';

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
  const charges = new QuotaCharges(ledger);

  return {
    actsOnUnchanged: (update) =>
      update.namespaced && evaluators.of(update.resource) !== undefined && mayHaveQuotas(update),
    validate(attributes) {
      const { namespaced, namespace, object, resource } = attributes;
      if (!namespaced || namespace === '' || !object) return undefined;
      const evaluator = evaluators.of(resource);
      if (!evaluator) return undefined;
      const isCounted = mayHaveQuotas(attributes) && mayCharge(evaluator, attributes);
      if (!isCounted && !charges.hasCharged(attributes)) return undefined;
      return charge(attributes, evaluator, object, isCounted);
    },
  };

  /** False if the namespace has no quota, and the resource needs none. */
  function mayHaveQuotas({ namespace, resource }: Pick<AdmissionAttributes, 'namespace' | 'resource'>): boolean {
    return ledger.quotas(namespace).length > 0 || limitsOf(configuration.quota, resource).length > 0;
  }

  async function charge(
    attributes: AdmissionAttributes,
    evaluator: Evaluator,
    object: KubeObject,
    isCounted: boolean,
  ): Promise<void> {
    await charges.charge(attributes, isCounted ? await chargesOf(attributes, evaluator, object) : []);
  }

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
