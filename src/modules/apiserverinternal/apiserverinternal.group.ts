import { ApiGroup } from '../../registry/apis/api-group.js';
import { apiserverInternalResources, apiserverInternalVersion } from './apiserverinternal.resources.js';

@ApiGroup((naming) => ({
  ...apiserverInternalVersion(naming),
  groupPriority: 16000,
  versionPriority: 9,
  resources: apiserverInternalResources(naming),
}))
export class ApiserverInternalGroup {}
