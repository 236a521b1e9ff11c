import type { KubeObject } from '../../machinery/kube-object.js';
import { shownPolicy, type LevelVersion } from './level.js';
import { viewOf } from './pod-templates.js';
import { shownReasons, type PodSecurityStandards } from './standards.js';

/** Namespaces may be large, and the request waits for it. */
const podsCheckedMax = 3000;

/** What to say to whoever tightens a namespace: which of its Pods could not be made again. One of a controller's stands for all. */
export function warningsOf(
  pods: readonly KubeObject[],
  namespace: string,
  policy: LevelVersion,
  standards: PodSecurityStandards,
): string[] {
  const checked = onePerController(pods).slice(0, podsCheckedMax);
  const byReasons = new Map<string, string[]>();
  for (const pod of checked) {
    const reasons = shownReasons(standards.violations(viewOf(pod), policy));
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
  const lines = [...byReasons].map(([reasons, names]) => `${named(names)}: ${reasons}`);
  return [
    ...warnings,
    `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${shownPolicy(policy)}"`,
    ...lines.sort(),
  ];
}

function named(names: readonly string[]): string {
  const [first, ...others] = [...names].sort();
  if (others.length === 0) return first!;
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`;
}

function onePerController(pods: readonly KubeObject[]): KubeObject[] {
  const seen = new Set<string>();
  return pods.filter(({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (!owner) return true;
    const isFirst = !seen.has(owner.uid);
    seen.add(owner.uid);
    return isFirst;
  });
}
