import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { asFields } from '../../machinery/fields.js';
import type { Clock } from '../../std/clock.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { difference, readAmounts, shownAmounts, writeAmounts, type Amounts } from '../amounts.js';
import type { QuotaConfiguration } from '../configuration/quota.configuration.js';
import { concerns, uncountable, viewOfQuota, withDelta } from '../quota/check-quota.js';
import type { Evaluator } from '../quota/evaluator.js';
import { Evaluators } from '../quota/evaluators.js';
import type { QuotaLedger } from '../quota/quota-ledger.js';
import { Turns } from '../quota/serial-tasks.js';
import { uncoveredProblem } from '../quota/uncovered.js';
import { forbid } from '../refusal.js';

/** How often a quota that others charge at the same time is tried again. */
const chargeAttemptsMax = 8;

interface Parts {
  readonly ledger: QuotaLedger;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly configuration: { readonly quota: QuotaConfiguration };
}

interface Charge {
  readonly quota: KubeObject;
  readonly delta: Amounts;
}

/**
 * Refuses what would take more than a namespace's quotas leave, and writes down what the rest takes, before it is
 * stored: two requests at once cannot both have the last piece. What then is not stored is given back by the reconciler.
 */
export function resourceQuota({ ledger, naming, clock, configuration }: Parts): AdmissionPlugin {
  const evaluators = new Evaluators(naming);
  const turns = new Turns();

  return {
    name: 'ResourceQuota',
    async validate(attributes) {
      const { namespaced, namespace, object, old, resource } = attributes;
      if (!namespaced || namespace === '' || !object) return;
      const evaluator = evaluators.of(resource);
      if (!evaluator || !mayCharge(evaluator, attributes)) return;
      const quotas = await quotasFor(attributes, evaluator, object);
      const usage = evaluator.usage(object, clock.now());
      const problem = uncoveredProblem(configuration.quota, { resource, object, usage, evaluator, quotas });
      if (problem !== undefined) throw forbid(attributes, problem);
      if (quotas.length === 0) return;
      const negative = new Map([...usage].filter(([, amount]) => amount.sign < 0));
      if (negative.size > 0) {
        throw forbid(attributes, `quota usage is negative for resource(s): ${[...negative.keys()].sort().join(',')}`);
      }
      const delta = old ? difference(usage, evaluator.usage(old, clock.now())) : usage;
      // A quota that did not count the object before is charged for all of it.
      const charges = quotas
        .map((quota) => ({ quota, delta: withoutZeros(old && !concerns(quota, evaluator, old) ? usage : delta) }))
        .filter((charge) => charge.delta.size > 0);
      if (charges.length === 0) return;
      // Requests of this server would only get in each other's way; others are found out by the store.
      await turns.take(namespace, () => settleAll(attributes, charges));
    },
  };

  /** What every quota says is known before the first one is charged. */
  async function settleAll(attributes: AdmissionAttributes, charges: readonly Charge[]) {
    for (const { quota, delta } of charges) await settle(attributes, quota, delta, false);
    if (attributes.request.dryRun) return;
    for (const { quota, delta } of charges) await settle(attributes, quota, delta, true);
  }

  async function quotasFor(
    attributes: AdmissionAttributes,
    evaluator: Evaluator,
    object: KubeObject,
  ): Promise<KubeObject[]> {
    const { signal } = attributes.request;
    const found: KubeObject[] = [];
    for (const cached of ledger.quotas(attributes.namespace)) {
      // Its status may have been written this moment.
      const quota = isSettled(cached) ? cached : await ledger.latest(cached, signal);
      if (!quota || !concerns(quota, evaluator, object)) continue;
      const problem = uncountable(quota, evaluator, object);
      if (problem !== undefined) throw forbid(attributes, problem);
      found.push(quota);
    }
    return found;
  }

  /** Begins with the quota as it was read; what it leads to is believed when the stored one agrees. */
  async function settle(attributes: AdmissionAttributes, quota: KubeObject, delta: Amounts, charges: boolean) {
    const { signal } = attributes.request;
    let current: KubeObject | undefined = ledger.latestKnown(quota);
    let isLatest = false;
    for (let attempt = 0; current && attempt < chargeAttemptsMax; attempt++) {
      const verdict = withDelta(current, delta);
      if (verdict === 'unchanged') return;
      if ('refusal' in verdict) {
        if (isLatest) throw forbid(attributes, verdict.refusal);
      } else if (!charges || (await ledger.charge(current, writeAmounts(verdict.used), signal))) {
        return;
      }
      current = await ledger.latest(quota, signal);
      isLatest = true;
    }
    if (!current) return;
    const { resource, name } = attributes;
    const busy = `the quota ${quota.metadata.name} is charged by many requests at once: ${shownAmounts(delta)}`;
    throw ApiError.conflict(resource, name, busy);
  }
}

/** True if the write may change what a quota has counted, or which quotas count the object. */
function mayCharge(evaluator: Evaluator, { operation, subresource, object, old }: AdmissionAttributes): boolean {
  if (evaluator.handles(operation, subresource)) return true;
  if (operation !== 'UPDATE' || subresource !== '' || !object || !old) return false;
  return evaluator.changesScope?.(object, old) ?? false;
}

/** All that it limits is in its status: until then, what was read may be older than the first count. */
function isSettled(quota: KubeObject): boolean {
  const { hard } = viewOfQuota(quota);
  return [...readAmounts(asFields(quota['spec'])['hard']).keys()].every((name) => hard.has(name));
}

function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, amount]) => !amount.isZero));
}
