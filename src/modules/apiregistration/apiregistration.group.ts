import { ApiGroup } from '../../registry/apis/api-group.js';
import { apiregistrationResources, apiregistrationVersion } from './apiregistration.resources.js';

@ApiGroup((naming) => ({
  ...apiregistrationVersion(naming),
  // The highest priority: discovery lists this group before all others.
  groupPriority: 20_000,
  resources: apiregistrationResources(naming),
}))
export class ApiregistrationGroup {}
