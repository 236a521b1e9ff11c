import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { defaultTable } from '../../registry/definition/table.js';
import { storageVersionStatusSubresource, storageVersionStrategy } from './storage-version.strategy.js';

export const apiserverInternalVersion = (naming: NamingProfile) => ({
  group: naming.group('internal.apiserver'),
  version: 'v1alpha1',
});

export function apiserverInternalResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...apiserverInternalVersion(naming),
      kind: 'StorageVersion',
      plural: 'storageversions',
      namespaced: false,
      strategy: storageVersionStrategy,
      table: defaultTable,
      subresources: { status: storageVersionStatusSubresource },
      allowsUnconditionalUpdate: false,
    }),
  ];
}
