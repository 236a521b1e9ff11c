import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { leaseStrategy } from './lease.strategy.js';
import { leaseTable } from './lease.table.js';

export const coordinationVersion = (naming: NamingProfile) => ({ group: naming.group('coordination'), version: 'v1' });

export function coordinationResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...coordinationVersion(naming),
      kind: 'Lease',
      plural: 'leases',
      namespaced: true,
      strategy: leaseStrategy,
      table: leaseTable,
      allowsCreateOnUpdate: true,
      // Two candidates must not both believe to hold it.
      allowsUnconditionalUpdate: false,
    }),
  ];
}
