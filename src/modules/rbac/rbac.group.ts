import { ApiGroup } from '../../registry/apis/api-group.js';
import { rbacResources, rbacVersion } from './rbac.resources.js';

@ApiGroup((naming) => ({
  ...rbacVersion(naming),
  groupPriority: 17000,
  resources: rbacResources(naming),
}))
export class RbacGroup {}
