import { HttpClient } from '../../../test/harness/http-client.js';
import { systemClock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { silentLogger } from '../../std/logger.js';
import { startOpenKeelson, type OpenKeelson } from '../../assembly/start-keelson.js';
import { ServiceRepair } from './service-repair.js';

const services = '/api/v1/namespaces/default/services';
const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
const merge = 'application/merge-patch+json';

let keelson: OpenKeelson;
let admin: HttpClient;
let repair: ServiceRepair;
let warnings: unknown[];

beforeEach(async () => {
  warnings = [];
  keelson = await startOpenKeelson({ reconciles: false });
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  const { serviceAllocation: allocation, registry } = keelson.components;
  const logger: Logger = { ...silentLogger, warn: (_message: string, details?: object) => void warnings.push(details) };
  repair = new ServiceRepair({
    allocation,
    services: registry.require('', 'v1', 'services').store,
    clock: systemClock,
    logger,
  });
});
afterEach(async () => {
  admin.close();
  await keelson.stop();
});

/** Makes the passes, each after the cache has all writes. */
async function pass(times = 1): Promise<void> {
  for (let n = 0; n < times; n++) {
    await admin.get(addresses);
    await repair.pass(new AbortController().signal);
  }
  await admin.get(addresses);
}
const createService = async (name: string, spec: object = {}) =>
  (await admin.post(services, { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }], ...spec } })).body;
const managed = {
  'ipaddress.kubernetes.io/ip-family': 'IPv4',
  'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
};
const createIpAddress = (name: string, labels: object, service: string) =>
  admin.post(addresses, {
    metadata: { name, labels },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: service } },
  });
const names = async () =>
  ((await admin.get(addresses)).body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
const ports = async () => [...(await keelson.components.serviceAllocation.nodePorts.read()).ports].map(String);

it('a pass restores deleted IPAddresses of Services', async () => {
  const { spec } = await createService('s');
  const ip = spec.clusterIP as string;
  const nodePort = spec.ports[0].nodePort as number;
  const { nodePorts } = keelson.components.serviceAllocation;
  await nodePorts.change((taken) => taken.delete(nodePort));
  await admin.delete(`${addresses}/${ip}`);
  expect([await names(), await ports()]).toEqual([['10.0.0.1'], []]);
  await pass();
  expect([(await names()).sort(), await ports()]).toEqual([['10.0.0.1', ip].sort(), [String(nodePort)]]);
  expect((await admin.get(`${addresses}/${ip}`)).body.spec.parentRef).toMatchObject({ name: 's' });
  expect((await admin.delete(`${services}/s`)).code).toBe(200);
  expect([await names(), await ports()]).toEqual([['10.0.0.1'], []]);
});

it('a pass releases leaked IPAddresses that three consecutive passes have seen, and keeps those of users', async () => {
  await createIpAddress('10.0.0.77', managed, 'gone');
  await createIpAddress('10.0.0.78', {}, 'gone');
  await pass(2);
  expect(await names()).toContain('10.0.0.77');
  await pass();
  expect(await names()).toEqual(['10.0.0.1', '10.0.0.78']);
});

it('a leaked IPAddress is kept if its Service is written between two passes', async () => {
  await createIpAddress('10.0.0.77', managed, 's');
  await pass(2);
  const { store } = keelson.components.registry.require('', 'v1', 'services');
  await admin.post(services, { metadata: { name: 's' }, spec: { clusterIP: 'None' } });
  const late = (await store.storedCurrent(store.keyOf('default', 's'), undefined)).encoded!.parse();
  const spec = { ...(late['spec'] as object), clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] };
  const key = store.keyOf('default', 's');
  const value = store.codec.encode({ ...late, spec }, key);
  await store.dependencies.kv.txn([], [{ type: 'put', key, value }]);
  await pass(5);
  expect(await names()).toContain('10.0.0.77');
});

it('a cluster IP of two Services is logged and not changed', async () => {
  const { spec } = await createService('a');
  await createService('b');
  const { store } = keelson.components.registry.require('', 'v1', 'services');
  const b = (await store.storedCurrent(store.keyOf('default', 'b'), undefined)).encoded!.parse();
  const both = {
    ...(b['spec'] as object),
    clusterIP: spec.clusterIP as string,
    clusterIPs: [spec.clusterIP as string],
  };
  const key = store.keyOf('default', 'b');
  const value = store.codec.encode({ ...b, spec: both }, key);
  await store.dependencies.kv.txn([], [{ type: 'put', key, value }]);
  await pass();
  expect(warnings).toEqual([
    {
      address: spec.clusterIP as string,
      services: [
        { namespace: 'default', name: 'a' },
        { namespace: 'default', name: 'b' },
      ],
    },
  ]);
  // The deletion of the second Service keeps the IPAddress of the first.
  expect((await admin.delete(`${services}/b`)).code).toBe(200);
  expect(await names()).toContain(spec.clusterIP);
});

it('a Service without allocations, from an older store, keeps its address and port', async () => {
  const { store } = keelson.components.registry.require('', 'v1', 'services');
  const made = await createService('model');
  const old = {
    ...made,
    metadata: { name: 'old', namespace: 'default', uid: 'u' },
    spec: { ...made.spec, clusterIP: '10.0.0.9', clusterIPs: undefined, ports: [{ port: 80, nodePort: 30_009 }] },
  };
  const key = store.keyOf('default', 'old');
  const put = { type: 'put' as const, key, value: store.codec.encode(old, key) };
  await store.dependencies.kv.txn([], [put]);
  await pass();
  expect([await names(), await ports()]).toEqual([
    expect.arrayContaining(['10.0.0.9']),
    expect.arrayContaining(['30009']),
  ]);
  const { code } = await admin.patch(`${services}/old`, { metadata: { labels: { a: 'b' } } }, merge);
  expect(code).toBe(200);
});
