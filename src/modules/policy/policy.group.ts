import { ApiGroup } from '../../registry/apis/api-group.js';
import { policyResources, policyVersion } from './policy.resources.js';

@ApiGroup({ ...policyVersion, groupPriority: 17100, resources: policyResources })
export class PolicyGroup {}
