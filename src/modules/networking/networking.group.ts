import { ApiGroup } from '../../registry/apis/api-group.js';
import { networkingGroup, networkingResources } from './networking.resources.js';

@ApiGroup((naming) => {
  const { v1, v1beta1 } = networkingResources(naming);
  const group = { group: networkingGroup(naming), groupPriority: 17200 };
  return [
    { ...group, version: 'v1', versionPriority: 15, resources: v1 },
    { ...group, version: 'v1beta1', versionPriority: 9, resources: v1beta1 },
  ];
})
export class NetworkingGroup {}
