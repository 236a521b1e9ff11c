import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems, isSet, type Fields } from '../../machinery/fields.js';
import type { StoredVersion } from '../../registry/resource-definition.js';

/** Endpoints of v1beta1 have their zone and host in a map of labels. The rest of the map is kept as it was. */
export const storedEndpointSlices = (group: string, naming: NamingProfile): readonly StoredVersion[] => {
  const zoneLabel = naming.label('zone', 'topology');
  const hostLabel = naming.label('hostname');
  const toHub = ({ topology, ...endpoint }: Fields): Fields => {
    if (!isSet(topology)) return endpoint;
    const { [zoneLabel]: zone, ...left } = asFields(topology);
    if (left[hostLabel] !== undefined && left[hostLabel] === endpoint['nodeName']) delete left[hostLabel];
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
      toHub: (stored) =>
        isSet(stored['endpoints']) ? { ...stored, endpoints: asItems(stored['endpoints']).map(toHub) } : stored,
    },
  ];
};
