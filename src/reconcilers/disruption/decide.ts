import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields, asItems, asNumber, asText, type Fields } from '../../machinery/fields.js';
import { intOrPercent } from '../../machinery/int-or-percent.js';
import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { isReady } from '../../modules/core/pod/eviction.rules.js';

/** An eviction that was granted, and whose Pod is still not being deleted after this time, did not happen. */
export const deletionTimeoutMs = 2 * 60_000;

/** The part of a Pod that a PodDisruptionBudget looks at. */
export interface PodFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isReady: boolean;
  readonly isDeleting: boolean;
  readonly controller: OwnerReference | undefined;
}

/** The object that says how many replicas there should be, and that number. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** Finds the scale of a controller; undefined when there is none of this uid. Throws Error where it cannot be known. */
export type ScaleOf = (controller: OwnerReference) => Scale | undefined;

export interface Verdict {
  /** Undefined where the status is right already. */
  readonly status: Fields | undefined;
  readonly againInMs: number | undefined;
}

export function podFacts(pod: KubeObject): PodFacts {
  const { name = '', labels = {}, deletionTimestamp, ownerReferences } = pod.metadata;
  return {
    name,
    labels,
    isReady: isReady(pod),
    isDeleting: deletionTimestamp !== undefined,
    controller: ownerReferences?.find((owner) => owner.controller === true),
  };
}

/** The status of a budget by the Pods that its selector matches. Throws Error where the scale of a Pod is not known. */
export function decide(
  budget: KubeObject,
  pods: readonly PodFacts[],
  { scaleOf, nowMs, now }: { readonly scaleOf: ScaleOf; readonly nowMs: number; readonly now: string },
): Verdict {
  const before = asFields(budget['status']);
  const { expectedPods, desiredHealthy } = expectationOf(budget, pods, scaleOf);
  const disrupted = stillDisrupted(pods, asFields(before['disruptedPods']), nowMs);
  const healthy = pods.filter((pod) => pod.isReady && !pod.isDeleting && !Object.hasOwn(disrupted, pod.name));
  const spare = expectedPods > 0 ? Math.max(0, healthy.length - desiredHealthy) : 0;
  const observedGeneration = budget.metadata.generation ?? 0;
  const condition = spare > 0 ? { status: 'True', reason: 'SufficientPods' } : shortage;
  const status: Fields = {
    ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
    currentHealthy: healthy.length,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: spare,
    observedGeneration,
    conditions: withCondition(asItems(before['conditions']), { ...condition, message: '', observedGeneration }, now),
  };
  const ends = Object.values(disrupted).map((time) => Date.parse(asText(time)) + deletionTimeoutMs + 1);
  return {
    status: isSameStatus(status, before) ? undefined : status,
    againInMs: ends.length > 0 ? Math.max(0, Math.min(...ends) - nowMs) : undefined,
  };
}

const shortage = { status: 'False', reason: 'InsufficientPods' };

/** The status of a budget that cannot be computed: no eviction is safe. */
export function failedStatus(budget: KubeObject, message: string, now: string): Fields | undefined {
  const before = asFields(budget['status']);
  const { observedGeneration } = before;
  const condition = { status: 'False', reason: 'SyncFailed', message, observedGeneration };
  const status = {
    ...before,
    disruptionsAllowed: 0,
    conditions: withCondition(asItems(before['conditions']), condition, now),
  };
  return isSameStatus(status, before) ? undefined : status;
}

/** An absent number is zero, an absent list or map is empty. */
function isSameStatus(one: Fields, other: Fields): boolean {
  const numbers = ['currentHealthy', 'desiredHealthy', 'expectedPods', 'disruptionsAllowed', 'observedGeneration'];
  return (
    numbers.every((field) => asNumber(one[field]) === asNumber(other[field])) &&
    deepEqual(asFields(one['disruptedPods']), asFields(other['disruptedPods'])) &&
    deepEqual(asItems(one['conditions']), asItems(other['conditions']))
  );
}

interface Expectation {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

function expectationOf(budget: KubeObject, pods: readonly PodFacts[], scaleOf: ScaleOf): Expectation {
  const { maxUnavailable, minAvailable } = asFields(budget['spec']);
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
function scaled(amount: unknown, total: number): number {
  return typeof amount === 'string' ? Math.ceil((intOrPercent(amount) * total) / 100) : asNumber(amount);
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

/** Evictions that were granted and have not been seen to happen, as far as they still may. */
function stillDisrupted(pods: readonly PodFacts[], granted: Fields, nowMs: number): Fields {
  const waiting = pods.filter(
    ({ name, isDeleting }) =>
      !isDeleting && Object.hasOwn(granted, name) && Date.parse(asText(granted[name])) + deletionTimeoutMs >= nowMs,
  );
  return Object.fromEntries(waiting.map(({ name }) => [name, granted[name]]));
}

function withCondition(before: readonly Fields[], condition: Fields, now: string): Fields[] {
  const type = 'DisruptionAllowed';
  const found = before.find((other) => other['type'] === type);
  const lastTransitionTime = found?.['status'] === condition['status'] ? found?.['lastTransitionTime'] : now;
  const { status, reason, message, observedGeneration } = condition;
  const next: Fields = {
    type,
    status,
    ...(asNumber(observedGeneration) > 0 && { observedGeneration }),
    lastTransitionTime,
    reason,
    message,
  };
  return found ? before.map((other) => (other === found ? next : other)) : [...before, next];
}
