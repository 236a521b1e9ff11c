import { deepEqual } from '../machinery/deep-equal.js';
import type { KubeObject, OwnerReference } from '../machinery/kube-object.js';

/** Old clients add an owner that is there already: each is kept once, and they are told. */
export function keepOwnersOnce({ metadata }: KubeObject, warnings: string[]): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept: OwnerReference[] = [];
  const again = new Set<string>();
  for (const owner of owners) {
    if (kept.some((other) => other.uid === owner.uid && deepEqual(other, owner))) again.add(owner.uid);
    else kept.push(owner);
  }
  if (again.size === 0) return;
  metadata.ownerReferences = kept;
  const warning = `.metadata.ownerReferences has the same entry more than once, and keeps one of each; UID(s): ${[...again].join(', ')}`;
  if (!warnings.includes(warning)) warnings.push(warning);
}
