import { ApiGroup } from '../../registry/apis/api-group.js';
import { resourceGroup, resourceResources } from './resource.resources.js';

@ApiGroup((naming) => {
  const { v1, v1beta2, v1beta1, v1alpha3 } = resourceResources(naming);
  const group = { group: resourceGroup(naming), groupPriority: 16200 };
  return [
    { ...group, version: 'v1', versionPriority: 21, resources: v1 },
    { ...group, version: 'v1beta2', versionPriority: 12, resources: v1beta2 },
    { ...group, version: 'v1beta1', versionPriority: 9, resources: v1beta1 },
    { ...group, version: 'v1alpha3', versionPriority: 1, resources: v1alpha3 },
  ];
})
export class ResourceGroup {}
