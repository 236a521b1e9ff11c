import { HttpClient } from '../../test/harness/http-client.js';
import type { KvStore } from '../storage/kv-store.js';
import { MemoryStore } from '../storage/backends/memory/memory-store.js';
import { systemClock } from '../std/clock.js';
import { startOpenKeelson, type OpenKeelson } from '../assembly/start-keelson.js';

const services = '/api/v1/namespaces/default/services';
const addresses = '/apis/networking.k8s.io/v1/ipaddresses';

interface Server {
  readonly keelson: OpenKeelson;
  readonly admin: HttpClient;
}

const running: Server[] = [];
async function start(
  network: { ranges?: string[]; ports?: [number, number] },
  store?: KvStore,
  runtimeConfig: Record<string, boolean> = {},
): Promise<Server> {
  const { ranges = ['10.0.0.0/24'], ports: [first, last] = [30_000, 32_767] } = network;
  const keelson = await startOpenKeelson({
    config: { runtimeConfig, network: { serviceClusterIpRanges: ranges, serviceNodePorts: { first, last } } },
    ...(store && { store }),
  });
  const server = { keelson, admin: new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client }) };
  running.push(server);
  return server;
}
afterEach(async () => {
  for (const { keelson, admin } of running.splice(0)) {
    admin.close();
    await keelson.stop();
  }
});

interface CreatedSpec {
  readonly clusterIP: string;
  readonly clusterIPs: string[];
  readonly ports: { readonly nodePort: number }[];
}
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const createService = async ({ admin }: Server, name: string, spec?: object) => {
  const { code, body } = await admin.post(services, service(name, spec));
  return { code, message: body.message as string, spec: (body.spec ?? {}) as CreatedSpec };
};
const taken = async ({ admin }: Server) => {
  const { body } = await admin.get(addresses);
  return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort();
};
const ports = async ({ keelson }: Server) =>
  [...(await keelson.components.serviceAllocation.nodePorts.read()).ports].map(String).sort();
const merge = { 'content-type': 'application/merge-patch+json' };
const patchService = async ({ admin }: Server, name: string, spec: object) =>
  (await admin.request('PATCH', `${services}/${name}`, { body: { spec }, headers: merge })).body;

it('the IPAddress object of the kubernetes Service is created at startup', async () => {
  const server = await start({});
  const { body } = await server.admin.get(`${addresses}/10.0.0.1`);
  expect(body).toMatchObject({
    kind: 'IPAddress',
    metadata: {
      name: '10.0.0.1',
      uid: expect.any(String) as string,
      labels: {
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } },
  });
});

it('allocates unique addresses until the range is full (500), and a released one again', async () => {
  const server = await start({ ranges: ['10.0.0.0/27'] });
  const created = await Promise.all(Array.from({ length: 29 }, (_, index) => createService(server, `s${index}`)));
  const allocated = created.map(({ spec }) => spec.clusterIP);
  expect(new Set(allocated).size).toBe(29);
  expect(await taken(server)).toEqual(['10.0.0.1', ...allocated].sort());
  expect(await createService(server, 'more')).toMatchObject({
    code: 500,
    message: 'Internal error occurred: failed to allocate a serviceIP: range is full',
  });
  await server.admin.delete(`${services}/s7`);
  expect((await createService(server, 'more')).spec.clusterIP).toBe(allocated[7]);
});

it('random addresses come from the upper band; a requested one may be in the lower', async () => {
  const server = await start({ ranges: ['10.0.0.0/27'] });
  const created = await Promise.all(Array.from({ length: 14 }, (_, index) => createService(server, `s${index}`)));
  expect(created.every(({ spec }) => Number(spec.clusterIP.split('.')[3]) > 16)).toBe(true);
  expect((await createService(server, 'asks', { clusterIP: '10.0.0.12' })).code).toBe(201);
});

it('a dry run and a rejected create allocate nothing', async () => {
  const server = await start({});
  const dry = await server.admin.post(`${services}?dryRun=All`, service('dry', { type: 'NodePort' }));
  expect(dry.body.spec).toMatchObject({ clusterIP: '10.0.0.0' });
  expect((await createService(server, 'Bad_Name', { type: 'NodePort' })).code).toBe(422);
  expect((await createService(server, 'kubernetes', { type: 'NodePort' })).code).toBe(409);
  expect([await taken(server), await ports(server)]).toEqual([['10.0.0.1'], []]);
});

it('a change of type allocates and releases addresses and node ports', async () => {
  const server = await start({});
  const { spec } = await createService(server, 's');
  const ip = spec.clusterIP;
  const nodePort = (await patchService(server, 's', { type: 'NodePort' })).spec.ports[0].nodePort as number;
  expect([await taken(server), await ports(server)]).toEqual([['10.0.0.1', ip].sort(), [String(nodePort)]]);

  const balanced = await patchService(server, 's', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  const { healthCheckNodePort } = balanced.spec;
  expect(balanced.spec).toMatchObject({ clusterIP: ip, ports: [{ nodePort }] });
  await server.admin.get(addresses);
  expect(await ports(server)).toEqual([String(nodePort), String(healthCheckNodePort)].sort());

  const named = await patchService(server, 's', { type: 'ExternalName', externalName: 'a.b' });
  expect(named.spec).toEqual({
    type: 'ExternalName',
    externalName: 'a.b',
    sessionAffinity: 'None',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  });
  expect([await taken(server), await ports(server)]).toEqual([['10.0.0.1'], []]);

  expect((await patchService(server, 's', { type: 'ClusterIP', externalName: null })).spec).toMatchObject({
    clusterIP: expect.stringMatching(/^10\.0\.0\./) as string,
    ipFamilies: ['IPv4'],
  });
  await server.admin.delete(`${services}/s`);
  expect([await taken(server), await ports(server)]).toEqual([['10.0.0.1'], []]);
});

it('node ports can be requested, are shared between protocols, and are released one by one', async () => {
  const server = await start({ ports: [30_000, 30_003] });
  const dns = [
    { name: 'u', port: 53, protocol: 'UDP' },
    { name: 't', port: 53, protocol: 'TCP', nodePort: 30_002 },
    { name: 'm', port: 9153 },
  ];
  const { spec } = await createService(server, 'dns', { type: 'NodePort', ports: dns });
  const other = spec.ports[2]!.nodePort;
  expect(spec.ports).toMatchObject([{ nodePort: 30_002 }, { nodePort: 30_002 }, {}]);
  expect((await createService(server, 'b', { type: 'NodePort', ports: [{ port: 1, nodePort: 30_002 }] })).message).toBe(
    'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated',
  );
  expect((await createService(server, 'b', { type: 'NodePort', ports: [{ port: 1, nodePort: 30_004 }] })).message).toBe(
    'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30004: provided port is not in the valid range. The range of valid ports is 30000-30003',
  );
  await patchService(server, 'dns', { ports: dns.slice(0, 2).map((port) => ({ ...port, nodePort: 30_002 })) });
  await server.admin.get(addresses);
  expect(await ports(server)).toEqual(['30002']);
  expect((await createService(server, 'c', { type: 'NodePort', ports: [{ port: 1, nodePort: other }] })).code).toBe(
    201,
  );
  expect((await createService(server, 'd', { type: 'NodePort' })).code).toBe(201);
  expect((await createService(server, 'e', { type: 'NodePort' })).code).toBe(201);
  expect((await createService(server, 'f', { type: 'NodePort' })).message).toBe(
    'Internal error occurred: failed to allocate a nodePort: range is full',
  );
  const without = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
  expect((await createService(server, 'g', without)).spec.ports).toEqual([
    { port: 80, protocol: 'TCP', targetPort: 80 },
  ]);
});

it('dual stack: two addresses are allocated; the second can be released and requested again', async () => {
  const server = await start({ ranges: ['10.0.0.0/24', 'fd00::/112'] });
  const { spec } = await createService(server, 's', { ipFamilyPolicy: 'PreferDualStack' });
  const [four, six] = spec.clusterIPs;
  expect([four, six]).toEqual([expect.stringMatching(/^10\.0\.0\./), expect.stringMatching(/^fd00::/)]);
  expect(await taken(server)).toEqual(['10.0.0.1', four, six].sort());

  expect((await patchService(server, 's', { ipFamilyPolicy: 'SingleStack' })).spec).toMatchObject({
    clusterIPs: [four],
    ipFamilies: ['IPv4'],
  });
  expect(await taken(server)).toEqual(['10.0.0.1', four].sort());
  const asked = { ipFamilyPolicy: 'RequireDualStack', clusterIPs: [four, 'FD00::77'] };
  expect((await patchService(server, 's', asked)).spec).toMatchObject({ clusterIPs: [four, 'FD00::77'] });
  expect(await taken(server)).toEqual(['10.0.0.1', four, 'fd00::77'].sort());
  expect((await createService(server, 'late', { clusterIP: 'fd00:0::77' })).message).toContain(
    'failed to allocate IP fd00:0::77: provided IP is already allocated',
  );
  await server.admin.delete(`${services}/s`);
  expect(await taken(server)).toEqual(['10.0.0.1']);
});

it('a released address and node port can be requested at once', async () => {
  const server = await start({});
  for (let round = 0; round < 20; round++) {
    const spec = { type: 'NodePort', clusterIP: '10.0.0.9', ports: [{ port: 1, nodePort: 30_001 }] };
    expect((await createService(server, `s${round}`, spec)).code).toBe(201);
    expect((await server.admin.delete(`${services}/s${round}`)).code).toBe(200);
  }
});

it('a Service can be deleted after its IPAddress object was deleted or changed', async () => {
  const server = await start({});
  const { spec } = await createService(server, 's');
  await server.admin.delete(`${addresses}/${spec.clusterIP}`);
  expect((await server.admin.delete(`${services}/s`)).code).toBe(200);
  const { spec: again } = await createService(server, 'mine', { clusterIP: '10.0.0.7' });
  await server.admin.request('PATCH', `${addresses}/10.0.0.7`, {
    body: { metadata: { labels: { touched: 'yes' } } },
    headers: merge,
  });
  expect(again.clusterIP).toBe('10.0.0.7');
  expect((await server.admin.delete(`${services}/mine`)).code).toBe(200);
  expect(await taken(server)).toEqual(['10.0.0.1']);
});

it('allocates addresses while the networking group is not served', async () => {
  const server = await start({}, undefined, { 'networking.k8s.io/v1': false, 'networking.k8s.io/v1beta1': false });
  expect((await server.admin.get(addresses)).code).toBe(404);
  const created = await Promise.all(['a', 'b', 'c'].map((name) => createService(server, name)));
  expect(new Set(created.map(({ spec }) => spec.clusterIP)).size).toBe(3);
  expect((await createService(server, 'd', { clusterIP: created[0]!.spec.clusterIP })).code).toBe(422);
  expect((await createService(server, 'd', { clusterIP: '10.0.0.1' })).code).toBe(422);
  await server.admin.delete(`${services}/a`);
  expect((await createService(server, 'd', { clusterIP: created[0]!.spec.clusterIP })).code).toBe(201);
});

it('two servers on one store never allocate the same address or node port', async () => {
  const store = new MemoryStore({ clock: systemClock });
  const both = [
    await start({ ranges: ['10.0.0.0/26'], ports: [30_000, 30_059] }, store),
    await start({ ranges: ['10.0.0.0/26'], ports: [30_000, 30_059] }, store),
  ];
  const created = await Promise.all(
    Array.from({ length: 60 }, (_, index) => createService(both[index % 2]!, `s${index}`, { type: 'NodePort' })),
  );
  expect(created.map(({ code }) => code)).toEqual(new Array(60).fill(201));
  const allocated = created.map(({ spec }) => spec.clusterIP);
  expect(await taken(both[0]!)).toEqual(['10.0.0.1', ...allocated].sort());
  expect(new Set(allocated).size).toBe(60);
  expect(new Set(created.map(({ spec }) => spec.ports[0]!.nodePort)).size).toBe(60);

  // One address of the range is free.
  const clusterIP = allocated[0] as string;
  const asking = await Promise.all(both.map((server, index) => createService(server, `ask${index}`, { clusterIP })));
  expect(asking.every(({ code }) => code === 422)).toBe(true);
  await Promise.all(created.map((_, index) => both[(index + 1) % 2]!.admin.delete(`${services}/s${index}`)));
  expect(await taken(both[1]!)).toEqual(['10.0.0.1']);
  expect(await ports(both[1]!)).toEqual([]);
  const racing = await Promise.all(
    both.map((server, index) => createService(server, `race${index}`, { clusterIP: '10.0.0.3' })),
  );
  expect(racing.map(({ code }) => code).sort()).toEqual([201, 422]);
});

it('the node port map equals that of kube-apiserver after each of the same requests', async () => {
  const store = new MemoryStore({ clock: systemClock });
  const server = await start({}, store);
  const mapped = async () => {
    const { data = '' } = JSON.parse((await store.get('/registry/ranges/servicenodeports')).item!.value.toString()) as {
      data: string;
    };
    return { bytes: Buffer.from(data, 'base64').length, ports: (await ports(server)).map(Number) };
  };
  const port = (nodePort?: number, rest: object = {}) => ({ port: 80, ...(nodePort && { nodePort }), ...rest });
  const nodePort = (...list: object[]) => ({ type: 'NodePort', ports: list });
  expect(await mapped()).toEqual({ bytes: 0, ports: [] });
  await createService(server, 'a', nodePort(port(30_000)));
  expect(await mapped()).toEqual({ bytes: 1, ports: [30_000] });
  await createService(server, 'b', nodePort(port(32_767)));
  expect(await mapped()).toEqual({ bytes: 346, ports: [30_000, 32_767] });
  const dns = [port(30_053, { name: 'u', protocol: 'UDP' }), port(30_053, { name: 't' })];
  expect((await createService(server, 'c', nodePort(...dns))).code).toBe(201);
  const all = { bytes: 346, ports: [30_000, 30_053, 32_767] };
  expect(await mapped()).toEqual(all);
  const before = (await store.get('/registry/ranges/servicenodeports')).item!.modRevision;
  expect((await createService(server, 'd', nodePort(port(30_053)))).code).toBe(422);
  expect((await createService(server, 'd', nodePort(port(29_999)))).code).toBe(422);
  await server.admin.post(`${services}?dryRun=All`, { metadata: { name: 'd' }, spec: nodePort(port(30_060)) });
  expect(await mapped()).toEqual(all);
  expect((await store.get('/registry/ranges/servicenodeports')).item!.modRevision).toBe(before);
  const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_201 };
  await createService(server, 'e', { ...balanced, ports: [port(30_200)] });
  expect((await mapped()).ports).toEqual([30_000, 30_053, 30_200, 30_201, 32_767]);
  await patchService(server, 'a', { ports: [port(30_001)] });
  expect((await mapped()).ports).toEqual([30_001, 30_053, 30_200, 30_201, 32_767]);
  await patchService(server, 'a', { type: 'ClusterIP', ports: [{ port: 80 }] });
  expect((await mapped()).ports).toEqual([30_053, 30_200, 30_201, 32_767]);
  await server.admin.delete(`${services}/b`);
  expect(await mapped()).toEqual({ bytes: 26, ports: [30_053, 30_200, 30_201] });
  for (const name of ['e', 'c', 'a']) await server.admin.delete(`${services}/${name}`);
  expect(await mapped()).toEqual({ bytes: 0, ports: [] });
});

it('ports that another server allocated are refused (422), and 2 × 160 concurrent Services get 320 ports', async () => {
  const store = new MemoryStore({ clock: systemClock });
  const both = [await start({ ranges: ['10.0.0.0/22'] }, store), await start({ ranges: ['10.0.0.0/22'] }, store)];
  const foreign = both[0]!.keelson.components.serviceAllocation.nodePorts;
  await foreign.change((taken) => taken.add(30_500));
  expect((await createService(both[1]!, 'x', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_500 }] })).code).toBe(
    422,
  );
  const created = await Promise.all(
    Array.from({ length: 320 }, (_, index) => createService(both[index % 2]!, `s${index}`, { type: 'NodePort' })),
  );
  expect(created.filter(({ code }) => code !== 201)).toEqual([]);
  expect(new Set(created.map(({ spec }) => spec.ports[0]!.nodePort)).size).toBe(320);
});
