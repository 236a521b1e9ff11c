import { ApiGroup } from '../../registry/apis/api-group.js';
import { nodeResources, nodeVersion } from './node.resources.js';

@ApiGroup((naming) => ({
  ...nodeVersion(naming),
  groupPriority: 16300,
  versionPriority: 15,
  resources: nodeResources(naming),
}))
export class NodeGroup {}
