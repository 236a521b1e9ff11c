import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { apiServiceStatusSubresource, apiServiceStrategy } from './api-service.strategy.js';
import { apiServiceTable } from './api-service.table.js';

export const apiregistrationVersion = (naming: NamingProfile) => ({
  group: naming.group('apiregistration'),
  version: 'v1',
});

export function apiregistrationResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...apiregistrationVersion(naming),
      kind: 'APIService',
      plural: 'apiservices',
      categories: ['api-extensions'],
      namespaced: false,
      storagePrefix: `${apiregistrationVersion(naming).group}/apiservices`,
      // Stored as JSON whatever the media type of other kinds, as by the aggregator of kube-apiserver.
      storage: { version: 'v1', fromHub: (service) => service },
      strategy: apiServiceStrategy,
      table: apiServiceTable,
      subresources: { status: apiServiceStatusSubresource },
      allowsUnconditionalUpdate: false,
    }),
  ];
}
