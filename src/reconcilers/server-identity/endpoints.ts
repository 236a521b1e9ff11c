import { isIPv4 } from 'node:net';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { BootObject } from '../boot/ensure-object.js';
import type { ServerAddress } from './identity-lease.js';

/** Returns Endpoints and EndpointSlice of the Service `kubernetes` with all servers, the same whichever server writes them. */
export function serverEndpoints(naming: NamingProfile, servers: readonly ServerAddress[]): BootObject[] {
  const groups = byPort(servers);
  const discovery = naming.group('discovery');
  const [first] = groups;
  const metadata = { name: naming.serviceName, namespace: 'default' };
  return [
    {
      resource: 'endpoints',
      keeps: ['subsets'],
      object: {
        kind: 'Endpoints',
        apiVersion: 'v1',
        metadata: { ...metadata, labels: { [`endpointslice.${naming.labelDomain}/skip-mirror`]: 'true' } },
        subsets: groups.map(({ ips, ports }) => ({ addresses: ips.map((ip) => ({ ip })), ports })),
      },
    },
    {
      group: discovery,
      resource: 'endpointslices',
      keeps: ['endpoints', 'ports'],
      object: {
        kind: 'EndpointSlice',
        apiVersion: `${discovery}/v1`,
        metadata: { ...metadata, labels: { [naming.label('service-name')]: naming.serviceName } },
        addressType: isIPv4(first?.ips[0] ?? '127.0.0.1') ? 'IPv4' : 'IPv6',
        endpoints: (first?.ips ?? []).map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
        ports: first?.ports ?? [],
      },
    },
  ];
}

/** Groups servers by port, the largest group first: an EndpointSlice has one list of ports and gets this group only. */
function byPort(servers: readonly ServerAddress[]) {
  const ports = [...new Set(servers.map(({ port }) => port))].sort((a, b) => a - b);
  const groups = ports.map((port) => ({
    ips: [...new Set(servers.filter((server) => server.port === port).map(({ ip }) => ip))].sort(),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  }));
  return groups.sort((a, b) => b.ips.length - a.ips.length);
}
