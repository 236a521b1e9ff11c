import { ApiError } from '../../../machinery/api-error.js';
import { asFields, asItems, asNumber, asText, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { labelSelectorOf } from '../../../machinery/label-selector.js';

/** When a pod may be evicted: decisions about pods and disruption budgets as they are, without any reading or writing. */

/** Pods that have ended, have not begun or are going already: nothing is disrupted when they go. */
export function goesUnasked(pod: KubeObject): boolean {
  return hasEnded(pod) || asFields(pod['status'])['phase'] === 'Pending';
}

/** What has ended does not begin again; any other pod may have changed while it was looked at. */
export function hasEnded(pod: KubeObject): boolean {
  const { phase } = asFields(pod['status']);
  return phase === 'Succeeded' || phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: KubeObject): boolean {
  return asItems(asFields(pod['status'])['conditions']).some(
    (condition) => condition['type'] === 'Ready' && condition['status'] === 'True',
  );
}

export function budgetsOf(pod: KubeObject, budgets: readonly KubeObject[]): KubeObject[] {
  const { labels = {} } = pod.metadata;
  if (Object.keys(labels).length === 0) return [];
  return budgets.filter((budget) => {
    const { selector } = asFields(budget['spec']);
    try {
      return labelSelectorOf(selector === undefined ? undefined : asFields(selector)).matches(labels);
    } catch {
      // Nobody can say whom it is for.
      return false;
    }
  });
}

/** A pod that is not ready is none of those that the budget counts on, so it may go while enough others are. */
export function mayGoUnready(pod: KubeObject, budget: KubeObject): boolean {
  if (isReady(pod)) return false;
  if (asFields(budget['spec'])['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = asFields(budget['status']);
  return asNumber(desiredHealthy) > 0 && asNumber(currentHealthy) >= asNumber(desiredHealthy);
}

/** So many evictions may be under way before the controller has counted them. */
const unconfirmedMax = 2000;
const budgetResource = { group: 'policy', resource: 'poddisruptionbudget' };
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
const retryAfterSeconds = 10;

/** The budget with one disruption less, and the pod on its account. Throws when there is none to give. */
export function takeDisruption(budget: KubeObject, podName: string, now: string): KubeObject {
  const name = budget.metadata.name ?? '';
  const status = asFields(budget['status']);
  const allowed = asNumber(status['disruptionsAllowed']);
  const disrupted = asFields(status['disruptedPods']);
  if (asNumber(status['observedGeneration']) < (budget.metadata.generation ?? 0)) throw stillProcessed(name);
  if (allowed < 0) throw ApiError.forbidden(budgetResource, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disrupted).length > unconfirmedMax) {
    const message = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw ApiError.forbidden(budgetResource, name, message);
  }
  if (allowed === 0) throw refused(whyNone(budget, status));
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: allowed - 1,
      disruptedPods: { ...disrupted, [podName]: now },
      ...(allowed === 1 && { conditions: withInsufficientPods(asItems(status['conditions']), status, now) }),
    },
  };
}

/** The budget has not been counted since it changed. */
export function stillProcessed(name: string): ApiError {
  return refused(`The disruption budget ${name} is still being processed by the server.`, retryAfterSeconds);
}

function refused(cause: string, retrySeconds?: number): ApiError {
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

function whyNone({ metadata: { name = '' } }: KubeObject, status: Fields): string {
  const condition = asItems(status['conditions']).find((it) => it['type'] === allowedCondition);
  if (condition?.['status'] === 'False' && condition['reason'] === 'SyncFailed') {
    const problem = asText(condition['message']);
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${problem}`;
  }
  const [desired, current] = [asNumber(status['desiredHealthy']), asNumber(status['currentHealthy'])];
  return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
}

function withInsufficientPods(conditions: readonly Fields[], { observedGeneration }: Fields, now: string): Fields[] {
  const before = conditions.find((it) => it['type'] === allowedCondition);
  const since = before?.['status'] === 'False' ? before['lastTransitionTime'] : now;
  const condition = {
    type: allowedCondition,
    status: 'False',
    observedGeneration,
    lastTransitionTime: since,
    reason: 'InsufficientPods',
    message: '',
  };
  return before ? conditions.map((it) => (it === before ? condition : it)) : [...conditions, condition];
}

/** The pod with the reason of its end, for whoever looks at it while it still is. */
export function markedAsEvicted(pod: KubeObject, now: string): KubeObject {
  const status = asFields(pod['status']);
  const others = asItems(status['conditions']).filter((condition) => condition['type'] !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
}
