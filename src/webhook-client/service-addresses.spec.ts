import { namingProfile } from '../config/naming-profile.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { ManualClock } from '../std/clock.js';
import { SeededRng } from '../std/rng.js';
import { ServiceAddresses } from './service-addresses.js';

const slice = (spec: object, service = 'web') => ({
  addressType: 'IPv4',
  metadata: { name: 's', labels: { 'kubernetes.io/service-name': service } },
  ...spec,
});
const service = (spec: object) => ({ metadata: { name: 'web' }, spec });

function world(objects: Readonly<Record<string, readonly object[]>>) {
  const clock = new ManualClock();
  const given = { ...objects };
  const all = (resource: string) => (given[resource] ?? []) as readonly KubeObject[];
  const addresses = new ServiceAddresses({
    objects: {
      cached: ({ resource }, _namespace, name) => all(resource).find(({ metadata }) => metadata.name === name),
      scan: ({ resource }) => ({ objects: all(resource) }),
    },
    naming: namingProfile('kubernetes'),
    clock,
    rng: new SeededRng(1),
  });
  return { addresses, clock, given };
}

const ports = [{ name: 'https', port: 443 }];
const ready = { ports: [{ name: 'https', port: 8443 }], endpoints: [{ addresses: ['10.0.0.1'] }] };

it.each<[string, Readonly<Record<string, readonly object[]>>, string]>([
  ['an endpoint', { services: [service({ ports })], endpointslices: [slice(ready)] }, '10.0.0.1:8443'],
  [
    'an endpoint that is ready',
    {
      services: [service({ ports })],
      endpointslices: [
        slice({ ...ready, endpoints: [{ addresses: ['10.0.0.9'], conditions: { ready: false } }] }),
        slice({ ...ready, endpoints: [{ addresses: ['fd00::1'], conditions: { ready: true } }] }),
      ],
    },
    'fd00::1:8443',
  ],
  [
    'the external name',
    { services: [service({ type: 'ExternalName', externalName: 'hooks.example.org' })] },
    'hooks.example.org:443',
  ],
  [
    'an address of Endpoints without slices',
    {
      services: [service({ ports })],
      endpoints: [{ metadata: { name: 'web' }, subsets: [{ addresses: [{ ip: '10.0.0.2' }], ports: ready.ports }] }],
    },
    '10.0.0.2:8443',
  ],
  ['no Service', {}, 'service "web" not found'],
  ['no such port', { services: [service({ ports: [{ port: 80 }] })] }, 'no service port 443 found for service "web"'],
  [
    'slices of another Service',
    { services: [service({ ports })], endpointslices: [slice(ready, 'other')] },
    'no endpoints available for service "web"',
  ],
  [
    'another port of the endpoints',
    { services: [service({ ports })], endpointslices: [slice({ ...ready, ports: [{ name: 'x', port: 1 }] })] },
    'no endpoints available for service "web"',
  ],
])('resolves a Service to %s', (_title, objects, want) => {
  const { addresses } = world(objects);
  let found: string;
  try {
    const { host, port } = addresses.resolve('ns', 'web', 443);
    found = `${host}:${port}`;
  } catch (error) {
    found = (error as Error).message;
  }
  expect(found).toBe(want);
});

it.each<[string, object, string]>([
  ['the cluster IP', { clusterIP: '10.96.0.7', ports }, '10.96.0.7:443'],
  ['the external name', { type: 'ExternalName', externalName: 'hooks.example.org' }, 'hooks.example.org:443'],
  ['no such port', { clusterIP: '10.96.0.7', ports: [{ port: 80 }] }, 'no service port 443 found for service "web"'],
  ['no cluster IP', { clusterIP: 'None', ports }, 'service "web" has no cluster IP'],
])('resolves a Service, whatever its endpoints, to %s', (_title, spec, want) => {
  const { addresses } = world({ services: [service(spec)], endpointslices: [slice(ready)] });
  let found: string;
  try {
    const { host, port } = addresses.resolveClusterIp('ns', 'web', 443);
    found = `${host}:${port}`;
  } catch (error) {
    found = (error as Error).message;
  }
  expect(found).toBe(want);
});

it('a changed endpoint is used after a second, or at once after a failed connection', () => {
  const { addresses, clock, given } = world({ services: [service({ ports })], endpointslices: [slice(ready)] });
  const host = () => addresses.resolve('ns', 'web', 443).host;
  const move = (ip: string) => (given['endpointslices'] = [slice({ ...ready, endpoints: [{ addresses: [ip] }] })]);
  expect(host()).toBe('10.0.0.1');
  move('10.0.0.2');
  expect(host()).toBe('10.0.0.1');
  clock.advance(1_000);
  expect(host()).toBe('10.0.0.2');
  move('10.0.0.3');
  addresses.forget('ns', 'web', 443);
  expect(host()).toBe('10.0.0.3');
});
