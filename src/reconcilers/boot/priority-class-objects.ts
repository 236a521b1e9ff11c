import type { NamingProfile } from '../../config/naming-profile.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import type { BootObject } from './ensure-object.js';

/** The built-in PriorityClasses. Their values are above the maximum that users can set. */
const systemClasses = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

export function priorityClassObjects(naming: NamingProfile): BootObject[] {
  const group = naming.group('scheduling');
  return systemClasses.map(({ name, value, description }) => ({
    group,
    resource: 'priorityclasses',
    keeps: [],
    object: {
      kind: 'PriorityClass',
      apiVersion: apiVersionOf(group, 'v1'),
      metadata: { name },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  }));
}
