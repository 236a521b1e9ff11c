import type { IPAddress, ParentReference } from '../../catalog/types/networking.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, otherVersion } from '../../registry/definition/resource-definition.js';
import { ingressClassStrategy } from './ingress-class.strategy.js';
import { ingressClassTable } from './ingress-class.table.js';
import { ingressStatusSubresource, ingressStrategy } from './ingress.strategy.js';
import { ingressTable } from './ingress.table.js';
import { ipAddressStrategy } from './ip-address.strategy.js';
import { ipAddressTable } from './ip-address.table.js';
import { networkPolicyStrategy } from './network-policy.strategy.js';
import { networkPolicyTable } from './network-policy.table.js';
import { serviceCidrStatusSubresource, serviceCidrStrategy } from './service-cidr.strategy.js';
import { serviceCidrTable } from './service-cidr.table.js';
import { storedIngresses, storedNetworkPolicies } from './stored-versions.js';

export const networkingGroup = (naming: NamingProfile): string => naming.group('networking');

const parentField =
  (field: keyof ParentReference) =>
  ({ spec }: IPAddress): string =>
    spec?.parentRef?.[field] ?? '';

export function networkingResources(naming: NamingProfile) {
  const v1 = { group: networkingGroup(naming), version: 'v1' };
  const ipAddresses = defineResource({
    ...v1,
    kind: 'IPAddress',
    plural: 'ipaddresses',
    shortNames: ['ip'],
    namespaced: false,
    selectableFields: {
      'spec.parentRef.group': parentField('group'),
      'spec.parentRef.resource': parentField('resource'),
      'spec.parentRef.namespace': parentField('namespace'),
      'spec.parentRef.name': parentField('name'),
    },
    strategy: ipAddressStrategy,
    table: ipAddressTable,
  });
  const serviceCidrs = defineResource({
    ...v1,
    kind: 'ServiceCIDR',
    plural: 'servicecidrs',
    namespaced: false,
    strategy: serviceCidrStrategy,
    table: serviceCidrTable,
    subresources: { status: serviceCidrStatusSubresource },
  });
  return {
    v1: [
      defineResource({
        ...v1,
        kind: 'IngressClass',
        plural: 'ingressclasses',
        namespaced: false,
        strategy: ingressClassStrategy,
        table: ingressClassTable,
      }),
      defineResource({
        ...v1,
        kind: 'Ingress',
        plural: 'ingresses',
        shortNames: ['ing'],
        namespaced: true,
        storagePrefix: 'ingress',
        strategy: ingressStrategy(naming),
        table: ingressTable,
        subresources: { status: ingressStatusSubresource },
        storedVersions: storedIngresses(v1.group),
      }),
      ipAddresses,
      defineResource({
        ...v1,
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        shortNames: ['netpol'],
        namespaced: true,
        strategy: networkPolicyStrategy,
        table: networkPolicyTable,
        storedVersions: storedNetworkPolicies,
      }),
      serviceCidrs,
    ],
    v1beta1: [otherVersion(ipAddresses, { version: 'v1beta1' }), otherVersion(serviceCidrs, { version: 'v1beta1' })],
  };
}
