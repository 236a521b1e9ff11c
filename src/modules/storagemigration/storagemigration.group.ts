import { ApiGroup } from '../../registry/apis/api-group.js';
import { storageMigrationResources, storageMigrationVersion } from './storagemigration.resources.js';

@ApiGroup((naming) => ({
  ...storageMigrationVersion(naming),
  groupPriority: 16800,
  versionPriority: 9,
  resources: storageMigrationResources(naming),
}))
export class StorageMigrationGroup {}
