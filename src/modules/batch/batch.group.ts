import { ApiGroup } from '../../registry/apis/api-group.js';
import { batchResources, batchVersion } from './batch.resources.js';

@ApiGroup((naming) => ({ ...batchVersion, groupPriority: 17400, resources: batchResources(naming) }))
export class BatchGroup {}
