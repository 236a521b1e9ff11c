import { ApiGroup } from '../../registry/apis/api-group.js';
import { schedulingGroup, schedulingResources } from './scheduling.resources.js';

@ApiGroup((naming) => {
  const { v1, v1alpha2 } = schedulingResources(naming);
  const group = { group: schedulingGroup(naming), groupPriority: 16600 };
  return [
    { ...group, version: 'v1', versionPriority: 15, resources: v1 },
    { ...group, version: 'v1alpha2', versionPriority: 1, resources: v1alpha2 },
  ];
})
export class SchedulingGroup {}
