import { ApiGroup } from '../../registry/apis/api-group.js';
import { discoveryResources, discoveryVersion } from './discovery.resources.js';

@ApiGroup((naming) => ({
  ...discoveryVersion(naming),
  groupPriority: 16200,
  versionPriority: 15,
  resources: discoveryResources(naming),
}))
export class DiscoveryGroup {}
