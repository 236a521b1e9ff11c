import { ApiGroup } from '../../registry/apis/api-group.js';
import { apiregistrationResources, apiregistrationVersion } from './apiregistration.resources.js';

@ApiGroup((naming) => ({
  ...apiregistrationVersion(naming),
  // It lists the other groups, and is listed before all of them.
  groupPriority: 20_000,
  resources: apiregistrationResources(naming),
}))
export class ApiregistrationGroup {}
