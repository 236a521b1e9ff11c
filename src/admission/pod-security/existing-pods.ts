import type { Pod } from '../../catalog/types/core.v1.js';
import { controllerOf } from '../../machinery/kube-object.js';
import { formatPolicy, type LevelVersion } from './level.js';
import { viewOf } from './pod-templates.js';
import { formatReasons, type PodSecurityStandards } from './standards.js';

/** Limits the time of the request that changes the namespace. */
const podsCheckedMax = 3000;

/** Returns warnings about existing Pods that a stricter policy would refuse. One Pod of each controller is checked. */
export function warningsOf(
  pods: readonly Pod[],
  namespace: string,
  policy: LevelVersion,
  standards: PodSecurityStandards,
): string[] {
  const checked = onePerController(pods).slice(0, podsCheckedMax);
  const byReasons = new Map<string, string[]>();
  for (const pod of checked) {
    const reasons = formatReasons(standards.violations(viewOf(pod), policy));
    if (reasons === '') continue;
    byReasons.set(reasons, [...(byReasons.get(reasons) ?? []), pod.metadata.name ?? '']);
  }
  const warnings: string[] = [];
  if (pods.length > podsCheckedMax) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`,
    );
  }
  if (byReasons.size === 0) return warnings;
  const lines = [...byReasons].map(([reasons, names]) => `${formatNames(names)}: ${reasons}`);
  return [
    ...warnings,
    `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${formatPolicy(policy)}"`,
    ...lines.sort(),
  ];
}

function formatNames(names: readonly string[]): string {
  const [first, ...others] = [...names].sort();
  if (others.length === 0) return first!;
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`;
}

function onePerController(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>();
  return pods.filter((pod) => {
    const owner = controllerOf(pod);
    if (!owner) return true;
    const isFirst = !seen.has(owner.uid);
    seen.add(owner.uid);
    return isFirst;
  });
}
