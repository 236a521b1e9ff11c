import type { Pod } from '../../catalog/types/core.v1.js';
import { controllerOf } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import { formatPolicy, type LevelVersion } from './level.js';
import { viewOf } from './pod-templates.js';
import { formatReasons, type PodSecurityStandards } from './standards.js';

/** Limits the work of the request that changes the namespace. */
const podsCheckedMax = 3000;

/** The Pods of a namespace, parsed one by one. */
interface ExistingPods {
  readonly count: number;
  readonly objects: Iterable<Pod>;
}

/** Returns warnings about existing Pods that a stricter policy would refuse. One Pod of each controller is checked. */
export function* warningsOf(
  pods: ExistingPods,
  namespace: string,
  policy: LevelVersion,
  standards: PodSecurityStandards,
): Steps<string[]> {
  const controllers = new Set<string>();
  const byReasons = new Map<string, string[]>();
  let read = 0;
  for (const pod of pods.objects) {
    read++;
    if (isFirstOf(controllers, pod)) {
      const reasons = formatReasons(standards.violations(viewOf(pod), policy));
      const names = byReasons.get(reasons) ?? [];
      if (reasons !== '') byReasons.set(reasons, names);
      names.push(pod.metadata.name ?? '');
    }
    if (read === podsCheckedMax) break;
    yield;
  }
  const warnings: string[] = [];
  if (pods.count > podsCheckedMax) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${read} of ${pods.count} existing pods`,
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

/** True for a Pod without a controller, and for the first one of each controller, whose other Pods are like it. */
function isFirstOf(controllers: Set<string>, pod: Pod): boolean {
  const owner = controllerOf(pod);
  if (!owner) return true;
  const isFirst = !controllers.has(owner.uid);
  controllers.add(owner.uid);
  return isFirst;
}

function formatNames(names: readonly string[]): string {
  const [first, ...others] = [...names].sort();
  if (others.length === 0) return first!;
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`;
}
