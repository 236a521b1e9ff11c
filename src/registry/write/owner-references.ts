import type { KubeObject } from '../../machinery/kube-object.js';
import { repeatedValues } from '../../machinery/value-key.js';

/** Removes duplicate ownerReferences, which old clients send, and adds a warning. */
export function dropDuplicateOwners({ metadata }: KubeObject, warnings: string[]): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const isAgain = repeatedValues(owners);
  const again = new Set(owners.filter((_owner, index) => isAgain[index]).map(({ uid }) => uid));
  if (again.size === 0) return;
  metadata.ownerReferences = owners.filter((_owner, index) => !isAgain[index]);
  const warning = `.metadata.ownerReferences has the same entry more than once, and keeps one of each; UID(s): ${[...again].join(', ')}`;
  if (!warnings.includes(warning)) warnings.push(warning);
}
