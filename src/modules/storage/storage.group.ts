import { ApiGroup } from '../../registry/apis/api-group.js';
import { storageGroup, storageResources } from './storage.resources.js';

@ApiGroup((naming) => {
  const { v1, v1beta1 } = storageResources(naming);
  const group = { group: storageGroup(naming), groupPriority: 16800 };
  return [
    { ...group, version: 'v1', versionPriority: 15, resources: v1 },
    { ...group, version: 'v1beta1', versionPriority: 9, resources: v1beta1 },
  ];
})
export class StorageGroup {}
