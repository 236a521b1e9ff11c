import { ApiGroup } from '../../registry/api-group.js';
import { coordinationResources, coordinationVersion } from './coordination.resources.js';

@ApiGroup((naming) => ({
  ...coordinationVersion(naming),
  groupPriority: 16500,
  resources: coordinationResources(naming),
}))
export class CoordinationGroup {}
