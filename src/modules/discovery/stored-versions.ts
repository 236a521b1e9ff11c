import type * as v1 from '../../catalog/types/discovery.v1.js';
import type * as v1beta1 from '../../catalog/types/discovery.v1beta1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

/** Endpoints of v1beta1 have their zone and host in a map of labels. The rest of the map is kept as it was. */
export const storedEndpointSlices = (group: string, naming: NamingProfile): readonly StoredVersion[] => {
  const zoneLabel = naming.label('zone', 'topology');
  const hostLabel = naming.label('hostname');
  const endpointToHub = ({ topology, ...endpoint }: v1beta1.Endpoint): v1.Endpoint => {
    if (topology === undefined) return endpoint;
    const { [zoneLabel]: zone, ...left }: Record<string, string> = topology;
    if (left[hostLabel] !== undefined && left[hostLabel] === endpoint.nodeName) delete left[hostLabel];
    return {
      ...endpoint,
      ...(zone !== undefined && { zone }),
      ...(Object.keys(left).length > 0 && { deprecatedTopology: left }),
    };
  };
  return [
    {
      group,
      version: 'v1beta1',
      toHub: (stored: v1beta1.EndpointSlice): v1.EndpointSlice =>
        stored.endpoints ? { ...stored, endpoints: stored.endpoints.map(endpointToHub) } : stored,
    },
  ];
};
