import { ApiGroup } from '../../registry/apis/api-group.js';
import { appsResources, appsVersion } from './apps.resources.js';

@ApiGroup({ ...appsVersion, groupPriority: 17800, resources: appsResources })
export class AppsGroup {}
