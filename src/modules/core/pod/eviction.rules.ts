import type { Pod } from '../../../catalog/types/core.v1.js';
import type { Condition } from '../../../catalog/types/meta.v1.js';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../catalog/types/policy.v1.js';
import { ApiError } from '../../../machinery/api-error.js';
import { labelSelectorOf } from '../../../machinery/label-selector-object.js';

/** Decides whether a Pod may be evicted, from the Pod and its PodDisruptionBudgets. Nothing is read or written here. */

/** True if the eviction of a Pod disrupts nothing: it is pending, being deleted, or has ended. */
export function canIgnoreBudgets(pod: Pod): boolean {
  return hasEnded(pod) || pod.status?.phase === 'Pending';
}

/** True if a Pod is being deleted or has ended. This is final; other states may change before the Pod is deleted. */
export function hasEnded({ metadata, status: { phase } = {} }: Pod): boolean {
  return phase === 'Succeeded' || phase === 'Failed' || metadata.deletionTimestamp !== undefined;
}

export function isReady({ status: { conditions = [] } = {} }: Pod): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Returns the budgets whose selector matches a Pod. A Pod without labels has none. */
export function budgetsOf(pod: Pod, budgets: readonly PodDisruptionBudget[]): PodDisruptionBudget[] {
  const { labels = {} } = pod.metadata;
  if (Object.keys(labels).length === 0) return [];
  return budgets.filter(({ spec }) => {
    try {
      return labelSelectorOf(spec?.selector).matches(labels);
    } catch {
      // An invalid selector matches nothing.
      return false;
    }
  });
}

/** True if the unhealthyPodEvictionPolicy of the budget allows the eviction of a Pod because it is not ready. */
export function isUnreadyEvictionAllowed(pod: Pod, { spec, status = {} }: PodDisruptionBudget): boolean {
  if (isReady(pod)) return false;
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** Bound on evictions that the disruption controller has not observed yet. */
const disruptedPodsMax = 2000;
const budgetResource = { group: 'policy', resource: 'poddisruptionbudget' };
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
const retryAfterSeconds = 10;

/** Returns the budget with one allowed disruption less, and the Pod in disruptedPods. Throws if it allows none. */
export function takeDisruption(budget: PodDisruptionBudget, podName: string, now: string): PodDisruptionBudget {
  const { name = '', generation = 0 } = budget.metadata;
  const { status = {} } = budget;
  const { disruptionsAllowed: allowed = 0, disruptedPods = {}, conditions = [] } = status;
  if ((status.observedGeneration ?? 0) < generation) throw notObservedError(name);
  if (allowed < 0) throw ApiError.forbidden(budgetResource, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    const message = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw ApiError.forbidden(budgetResource, name, message);
  }
  if (allowed === 0) throw tooManyRequests(noDisruptionCause(name, status));
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: allowed - 1,
      disruptedPods: { ...disruptedPods, [podName]: now },
      ...(allowed === 1 && { conditions: withInsufficientPods(conditions, status, now) }),
    },
  };
}

/** The disruption controller has not observed the current generation of the budget. */
export function notObservedError(name: string): ApiError {
  return tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, retryAfterSeconds);
}

function tooManyRequests(cause: string, retrySeconds?: number): ApiError {
  return new ApiError({
    reason: 'TooManyRequests',
    message: refusal,
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retrySeconds !== undefined && { retryAfterSeconds: retrySeconds }),
    },
  });
}

const allowedCondition = 'DisruptionAllowed';

function noDisruptionCause(name: string, status: PodDisruptionBudgetStatus): string {
  const condition = status.conditions?.find(({ type }) => type === allowedCondition);
  if (condition?.status === 'False' && condition.reason === 'SyncFailed') {
    const { message = '' } = condition;
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${message}`;
  }
  const { desiredHealthy = 0, currentHealthy = 0 } = status;
  return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
}

/** Sets the condition DisruptionAllowed to False, and keeps its lastTransitionTime if it was. */
function withInsufficientPods(
  conditions: readonly Condition[],
  { observedGeneration }: PodDisruptionBudgetStatus,
  now: string,
): Condition[] {
  const old = conditions.find(({ type }) => type === allowedCondition);
  const condition: Condition = {
    type: allowedCondition,
    status: 'False',
    observedGeneration,
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  return old ? conditions.map((it) => (it === old ? condition : it)) : [...conditions, condition];
}

const evictionCause = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };

/** Returns the Pod with the condition DisruptionTarget, which tells why it is deleted while it terminates. */
export function withDisruptionTarget(pod: Pod, now: string, cause = evictionCause): Pod {
  const { status = {} } = pod;
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    ...cause,
  };
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
}
