import type { NamingProfile } from '../../config/naming-profile.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { systemPriorities } from '../../modules/scheduling/priority-class.strategy.js';
import type { BootObject } from './ensure-object.js';

const descriptions = {
  'system-cluster-critical':
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  'system-node-critical': 'Used for system critical pods that must not be moved from their current node.',
} as const;
const names = ['system-cluster-critical', 'system-node-critical'] as const;

/** Returns the built-in PriorityClasses. */
export function priorityClassObjects(naming: NamingProfile): BootObject[] {
  const group = naming.group('scheduling');
  return names.map((name) => ({
    group,
    resource: 'priorityclasses',
    keeps: [],
    object: {
      kind: 'PriorityClass',
      apiVersion: apiVersionOf(group, 'v1'),
      metadata: { name },
      value: systemPriorities[name],
      description: descriptions[name],
      preemptionPolicy: 'PreemptLowerPriority',
    },
  }));
}
