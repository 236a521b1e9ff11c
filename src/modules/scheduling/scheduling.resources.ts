import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource } from '../../registry/definition/resource-definition.js';
import { defaultTable } from '../../registry/definition/table.js';
import { podGroupStatusSubresource, podGroupStrategy } from './pod-group.strategy.js';
import { priorityClassStrategy } from './priority-class.strategy.js';
import { priorityClassTable } from './priority-class.table.js';
import { workloadStrategy } from './workload.strategy.js';

export const schedulingGroup = (naming: NamingProfile): string => naming.group('scheduling');

export function schedulingResources(naming: NamingProfile) {
  const v1 = { group: schedulingGroup(naming), version: 'v1' };
  const v1alpha2 = { group: schedulingGroup(naming), version: 'v1alpha2' };
  return {
    v1: [
      defineResource({
        ...v1,
        kind: 'PriorityClass',
        plural: 'priorityclasses',
        shortNames: ['pc'],
        namespaced: false,
        strategy: priorityClassStrategy(naming),
        table: priorityClassTable,
      }),
    ],
    v1alpha2: [
      defineResource({
        ...v1alpha2,
        kind: 'PodGroup',
        plural: 'podgroups',
        namespaced: true,
        strategy: podGroupStrategy,
        table: defaultTable,
        subresources: { status: podGroupStatusSubresource },
      }),
      defineResource({
        ...v1alpha2,
        kind: 'Workload',
        plural: 'workloads',
        namespaced: true,
        strategy: workloadStrategy,
        table: defaultTable,
      }),
    ],
  };
}
