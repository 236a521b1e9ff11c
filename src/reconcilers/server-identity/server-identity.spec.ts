import { namingProfile } from '../../config/naming-profile.js';
import { serverEndpoints } from './endpoints.js';
import { addressOf, hasExpired, identityLease, leaseNameOf } from './identity-lease.js';

const naming = namingProfile('kubernetes');
const identity = { hostName: 'h', address: '10.1.2.3:6443', uuid: 'u' };

it('the identity Lease has the address of the server in an annotation, and expires after an hour', () => {
  const lease = identityLease(naming, identity, Date.UTC(2026, 0, 1));
  expect(lease).toMatchObject({
    apiVersion: 'coordination.k8s.io/v1',
    metadata: {
      namespace: 'kube-system',
      name: expect.stringMatching(/^apiserver-[0-9a-f]{26}$/) as string,
      labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'h' },
    },
    spec: { leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' },
  });
  expect(addressOf(naming, lease)).toEqual({ ip: '10.1.2.3', port: 6443 });
  expect(leaseNameOf({ hostName: 'h', address: '10.1.2.3:6444' })).not.toBe(lease.metadata.name);
  expect([Date.UTC(2026, 0, 1, 1), Date.UTC(2026, 0, 1, 1) + 1].map((ms) => hasExpired(lease, ms))).toEqual([
    false,
    true,
  ]);
});

it.each([
  ['[fd00::1]:6443', { ip: 'fd00::1', port: 6443 }],
  ['', undefined],
  ['host', undefined],
])('the address in the annotation %j: %j', (address, want) => {
  expect(addressOf(naming, identityLease(naming, { ...identity, address }, 0))).toEqual(want);
});

const server = (ip: string, port = 6443) => ({ ip, port });
it.each([
  [[server('10.0.0.2'), server('10.0.0.1'), server('10.0.0.2')], [[['10.0.0.1', '10.0.0.2'], 6443]]],
  [
    [server('10.0.0.1', 1), server('10.0.0.1', 2), server('10.0.0.2', 2)],
    [
      [['10.0.0.1', '10.0.0.2'], 2],
      [['10.0.0.1'], 1],
    ],
  ],
  [[], []],
])('Endpoints and EndpointSlice of the servers %j', (servers, want) => {
  const [endpoints, slice] = serverEndpoints(naming, servers).map(({ object }) => object);
  const subsets = endpoints!['subsets'] as { addresses: { ip: string }[]; ports: { port: number }[] }[];
  expect(subsets.map(({ addresses, ports }) => [addresses.map(({ ip }) => ip), ports[0]!.port])).toEqual(want);
  const found = slice!['endpoints'] as { addresses: string[] }[];
  expect(found.map(({ addresses }) => addresses[0])).toEqual(want[0]?.[0] ?? []);
});
