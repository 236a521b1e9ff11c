import { ApiGroup } from '../../registry/apis/api-group.js';
import { apiextensionsResources, apiextensionsVersion } from './apiextensions.resources.js';

@ApiGroup((naming) => ({
  ...apiextensionsVersion(naming),
  groupPriority: 16700,
  resources: apiextensionsResources(naming),
}))
export class ApiextensionsGroup {}
