import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { defaultTable } from '../../registry/definition/table.js';
import { migrationStatusSubresource, migrationStrategy } from './storage-version-migration.strategy.js';

export const storageMigrationVersion = (naming: NamingProfile) => ({
  group: naming.group('storagemigration'),
  version: 'v1beta1',
});

export function storageMigrationResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...storageMigrationVersion(naming),
      kind: 'StorageVersionMigration',
      plural: 'storageversionmigrations',
      namespaced: false,
      strategy: migrationStrategy,
      table: defaultTable,
      subresources: { status: migrationStatusSubresource },
    }),
  ];
}
