import type { Node, NodeCondition, Pod, Taint } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { isReady } from '../../modules/core/pod/eviction.rules.js';
import { readyCondition } from './node-facts.js';

/** Conditions that a kubelet reports. NetworkUnavailable is that of a network add-on. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Name of the taint for a status of a condition. */
const taintNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
  PIDPressure: { True: 'pid-pressure' },
};
const schedulingTaintNames = ['unschedulable', ...Object.values(taintNames).flatMap((names) => Object.values(names))];
const evictionTaintNames = ['not-ready', 'unreachable'];

/** Returns the conditions of a node that stopped reporting: Unknown, as kube-controller-manager writes them. */
export function silentConditions({ metadata, status }: Node, now: string): NodeCondition[] {
  const conditions = status?.conditions ?? [];
  const known = conditions.map((condition) =>
    kubeletConditions.includes(condition.type ?? '') && condition.status !== 'Unknown'
      ? {
          ...condition,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime: now,
        }
      : condition,
  );
  const missing = kubeletConditions.filter((type) => !conditions.some((condition) => condition.type === type));
  return [
    ...known,
    ...missing.map((type) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: metadata.creationTimestamp ?? null,
      lastTransitionTime: now,
    })),
  ];
}

/**
 * State of the taint with the effect NoExecute, by which Pods are evicted: `kept` changes nothing but the name of an
 * existing taint, `added` adds it.
 */
export type EvictionTaint = 'removed' | 'kept' | 'added';

interface TaintWishes {
  readonly eviction: EvictionTaint;
  /** Time of added taints. */
  readonly now: string;
}

/** Returns the taints that follow from the conditions of the Node; undefined if it has them. */
export function taintsAfter(node: Node, { eviction, now }: TaintWishes, naming: NamingProfile): Taint[] | undefined {
  const { conditions = [] } = node.status ?? {};
  const { taints: before, unschedulable = false } = node.spec ?? {};
  const taints = before ?? [];
  const keyOf = (name: string) => naming.label(name, 'node');
  const scheduling = new Set(
    (conditions ?? []).flatMap(({ type = '', status = '' }) => nameIn(taintNames, type, status) ?? []).map(keyOf),
  );
  if (unschedulable) scheduling.add(keyOf('unschedulable'));
  const evicting = evictionKey(conditions ?? [], taints, eviction, keyOf);
  const schedulingKeys = new Set(schedulingTaintNames.map(keyOf));
  const evictionKeys = new Set(evictionTaintNames.map(keyOf));
  const kept = taints.filter(({ key = '', effect }) => {
    if (effect === 'NoSchedule' && schedulingKeys.has(key)) return scheduling.has(key);
    return effect !== 'NoExecute' || !evictionKeys.has(key) || key === evicting;
  });
  const has = (key: string, effect: string) => kept.some((taint) => taint.key === key && taint.effect === effect);
  const added = [...scheduling]
    .filter((key) => !has(key, 'NoSchedule'))
    .map((key) => ({ key, effect: 'NoSchedule', timeAdded: now }));
  if (evicting !== undefined && !has(evicting, 'NoExecute')) {
    added.push({ key: evicting, effect: 'NoExecute', timeAdded: now });
  }
  const after = [...kept, ...added];
  return deepEqual(after, [...taints]) ? undefined : after;
}

function evictionKey(
  conditions: readonly NodeCondition[],
  taints: readonly Taint[],
  eviction: EvictionTaint,
  keyOf: (name: string) => string,
): string | undefined {
  const ready = readyCondition(conditions);
  const name = nameIn(taintNames, 'Ready', ready?.status ?? '');
  if (!ready) return taints.find((taint) => isEvictionTaint(taint, keyOf))?.key;
  if (name === undefined || eviction === 'removed') return undefined;
  return eviction === 'added' || taints.some((taint) => isEvictionTaint(taint, keyOf)) ? keyOf(name) : undefined;
}

function isEvictionTaint({ key = '', effect }: Taint, keyOf: (name: string) => string): boolean {
  return effect === 'NoExecute' && evictionTaintNames.some((name) => keyOf(name) === key);
}

/** True if the Node has the taint by which Pods of nodes that are not ready are evicted. */
export function hasEvictionTaint(taints: readonly Taint[], naming: NamingProfile): boolean {
  return taints.some((taint) => isEvictionTaint(taint, (name) => naming.label(name, 'node')));
}

function nameIn(names: typeof taintNames, type: string, status: string): string | undefined {
  const byStatus = Object.hasOwn(names, type) ? names[type]! : {};
  return Object.hasOwn(byStatus, status) ? byStatus[status] : undefined;
}

/** Returns the Pod with the condition Ready False; undefined if it is not ready. */
export function unreadyPod(pod: Pod, now: string): Pod | undefined {
  if (!isReady(pod)) return undefined;
  const changed = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: now } : condition,
  );
  return { ...pod, status: { ...pod.status, conditions: changed } };
}
