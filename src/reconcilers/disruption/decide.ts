import type { Pod } from '../../catalog/types/core.v1.js';
import type { Condition } from '../../catalog/types/meta.v1.js';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../catalog/types/policy.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { intOrPercent } from '../../machinery/int-or-percent.js';
import { controllerOf, type OwnerReference } from '../../machinery/kube-object.js';
import { isReady } from '../../modules/core/pod/eviction.rules.js';

/** A granted eviction expires if its Pod is not being deleted after this time. */
const deletionTimeoutMs = 2 * 60_000;

/** The part of a Pod that a PodDisruptionBudget looks at. */
export interface PodFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isReady: boolean;
  readonly isDeleting: boolean;
  readonly controller: OwnerReference | undefined;
}

/** The uid and the spec.replicas of the workload that controls a Pod. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** Finds the scale of a controller; undefined if no object has its uid. Throws Error if the scale cannot be read. */
export type ScaleOf = (controller: OwnerReference) => Scale | undefined;

export interface Verdict {
  /** Undefined if the status need not change. */
  readonly status: PodDisruptionBudgetStatus | undefined;
  readonly againInMs: number | undefined;
}

export function podFacts(pod: Pod): PodFacts {
  const { name = '', labels = {}, deletionTimestamp } = pod.metadata;
  return {
    name,
    labels,
    isReady: isReady(pod),
    isDeleting: deletionTimestamp !== undefined,
    controller: controllerOf(pod),
  };
}

/** Computes the status of a budget from the Pods that its selector matches. Throws Error if the scale of a Pod is not known. */
export function decide(
  budget: PodDisruptionBudget,
  pods: readonly PodFacts[],
  { scaleOf, nowMs, now }: { readonly scaleOf: ScaleOf; readonly nowMs: number; readonly now: string },
): Verdict {
  const before = budget.status ?? {};
  const { expectedPods, desiredHealthy } = expectationOf(budget, pods, scaleOf);
  const disrupted = stillDisrupted(pods, before.disruptedPods ?? {}, nowMs);
  const healthy = pods.filter((pod) => pod.isReady && !pod.isDeleting && !Object.hasOwn(disrupted, pod.name));
  const spare = expectedPods > 0 ? Math.max(0, healthy.length - desiredHealthy) : 0;
  const observedGeneration = budget.metadata.generation ?? 0;
  const condition = spare > 0 ? { status: 'True', reason: 'SufficientPods' } : shortage;
  const status: PodDisruptionBudgetStatus = {
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    currentHealthy: healthy.length,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: spare,
    observedGeneration,
    conditions: withCondition(before.conditions, { ...condition, message: '', observedGeneration }, now),
  };
  const ends = Object.values(disrupted).map((time) => Date.parse(time ?? '') + deletionTimeoutMs + 1);
  return {
    status: isSameStatus(status, before) ? undefined : status,
    againInMs: ends.length > 0 ? Math.max(0, Math.min(...ends) - nowMs) : undefined,
  };
}

const shortage = { status: 'False', reason: 'InsufficientPods' };

/** Computes the status after an error: it allows no disruption. Undefined if the status need not change. */
export function failedStatus(
  budget: PodDisruptionBudget,
  message: string,
  now: string,
): PodDisruptionBudgetStatus | undefined {
  const before = budget.status ?? {};
  const { observedGeneration } = before;
  const condition = { status: 'False', reason: 'SyncFailed', message, observedGeneration };
  const status = {
    ...before,
    disruptionsAllowed: 0,
    conditions: withCondition(before.conditions, condition, now),
  };
  return isSameStatus(status, before) ? undefined : status;
}

const counters = [
  'currentHealthy',
  'desiredHealthy',
  'expectedPods',
  'disruptionsAllowed',
  'observedGeneration',
] as const;

/** An absent number is zero, an absent list or map is empty. */
function isSameStatus(one: PodDisruptionBudgetStatus, other: PodDisruptionBudgetStatus): boolean {
  return (
    counters.every((field) => (one[field] ?? 0) === (other[field] ?? 0)) &&
    deepEqual(one.disruptedPods ?? {}, other.disruptedPods ?? {}) &&
    deepEqual(one.conditions ?? [], other.conditions ?? [])
  );
}

interface Expectation {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

function expectationOf({ spec }: PodDisruptionBudget, pods: readonly PodFacts[], scaleOf: ScaleOf): Expectation {
  const { maxUnavailable, minAvailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const expectedPods = expectedScale(pods, scaleOf);
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods)) };
  }
  if (typeof minAvailable === 'number') return { expectedPods: pods.length, desiredHealthy: minAvailable };
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  const expectedPods = expectedScale(pods, scaleOf);
  return { expectedPods, desiredHealthy: scaled(minAvailable, expectedPods) };
}

/** Percentages are rounded up. */
function scaled(amount: number | string, total: number): number {
  return typeof amount === 'string' ? Math.ceil((intOrPercent(amount) * total) / 100) : amount;
}

/** The sum of the scales of all controllers that the Pods have; Pods without one do not count. */
function expectedScale(pods: readonly PodFacts[], scaleOf: ScaleOf): number {
  const scales = new Map<string, number>();
  const asked = new Set<string>();
  for (const { name, controller } of pods) {
    if (!controller || asked.has(controller.uid)) continue;
    asked.add(controller.uid);
    const scale = scaleOf(controller);
    if (!scale) throw new Error(`found no controllers for pod "${name}"`);
    scales.set(scale.uid, scale.replicas);
  }
  let total = 0;
  for (const replicas of scales.values()) total += replicas;
  return total;
}

type DisruptedPods = NonNullable<PodDisruptionBudgetStatus['disruptedPods']>;

/** Granted evictions that have not expired, of Pods that exist and are not being deleted. */
function stillDisrupted(pods: readonly PodFacts[], granted: DisruptedPods, nowMs: number): DisruptedPods {
  const waiting = pods.filter(
    ({ name, isDeleting }) =>
      !isDeleting && Object.hasOwn(granted, name) && Date.parse(granted[name] ?? '') + deletionTimeoutMs >= nowMs,
  );
  return Object.fromEntries(waiting.map(({ name }) => [name, granted[name] ?? null]));
}

function withCondition(before: readonly Condition[] = [], condition: Condition, now: string): Condition[] {
  const type = 'DisruptionAllowed';
  const found = before.find((other) => other.type === type);
  const lastTransitionTime = found?.status === condition.status ? found?.lastTransitionTime : now;
  const { status, reason, message, observedGeneration = 0 } = condition;
  const next: Condition = {
    type,
    status,
    ...(observedGeneration > 0 && { observedGeneration }),
    lastTransitionTime,
    reason,
    message,
  };
  return found ? before.map((other) => (other === found ? next : other)) : [...before, next];
}
