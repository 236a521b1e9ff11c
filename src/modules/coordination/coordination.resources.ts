import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, otherVersion } from '../../registry/definition/resource-definition.js';
import { leaseCandidateStrategy } from './lease-candidate.strategy.js';
import { leaseCandidateTable } from './lease-candidate.table.js';
import { leaseStrategy } from './lease.strategy.js';
import { leaseTable } from './lease.table.js';

export const coordinationGroup = (naming: NamingProfile): string => naming.group('coordination');

export function coordinationResources(naming: NamingProfile) {
  const group = coordinationGroup(naming);
  const leaseCandidates = defineResource({
    group,
    version: 'v1beta1',
    kind: 'LeaseCandidate',
    plural: 'leasecandidates',
    namespaced: true,
    strategy: leaseCandidateStrategy,
    table: leaseCandidateTable,
    allowsCreateOnUpdate: true,
    allowsUnconditionalUpdate: false,
  });
  return {
    v1: [
      defineResource({
        group,
        version: 'v1',
        kind: 'Lease',
        plural: 'leases',
        namespaced: true,
        strategy: leaseStrategy,
        table: leaseTable,
        allowsCreateOnUpdate: true,
        // With unconditional updates two candidates could both acquire the Lease.
        allowsUnconditionalUpdate: false,
      }),
    ],
    v1beta1: [leaseCandidates],
    v1alpha2: [otherVersion(leaseCandidates, { version: 'v1alpha2' })],
  };
}
