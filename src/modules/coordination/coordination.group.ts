import { ApiGroup } from '../../registry/apis/api-group.js';
import { coordinationGroup, coordinationResources } from './coordination.resources.js';

@ApiGroup((naming) => {
  const { v1, v1beta1, v1alpha2 } = coordinationResources(naming);
  const group = { group: coordinationGroup(naming), groupPriority: 16500 };
  return [
    { ...group, version: 'v1', versionPriority: 15, resources: v1 },
    { ...group, version: 'v1beta1', versionPriority: 13, resources: v1beta1 },
    { ...group, version: 'v1alpha2', versionPriority: 12, resources: v1alpha2 },
  ];
})
export class CoordinationGroup {}
