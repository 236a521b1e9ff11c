import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { endpointSliceStrategy } from './endpoint-slice.strategy.js';
import { endpointSliceTable } from './endpoint-slice.table.js';
import { storedEndpointSlices } from './stored-versions.js';

export const discoveryVersion = (naming: NamingProfile) => ({ group: naming.group('discovery'), version: 'v1' });

export function discoveryResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...discoveryVersion(naming),
      kind: 'EndpointSlice',
      plural: 'endpointslices',
      namespaced: true,
      strategy: endpointSliceStrategy,
      table: endpointSliceTable,
      allowsCreateOnUpdate: true,
      storedVersions: storedEndpointSlices(discoveryVersion(naming).group, naming),
    }),
  ];
}
