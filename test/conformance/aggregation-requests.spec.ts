import { AggregatedServer } from '../harness/aggregated-server.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import { itWithAddress, ownAddress } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { TraceCollector } from '../harness/trace-collector.js';

const group = 'shop.example.com';
const memory = { store: 'memory', naming: 'kubernetes' } as const;

let server: TestServer | undefined;
let remote: AggregatedServer | undefined;
afterEach(async () => {
  await server?.stop();
  await remote?.stop();
  server = remote = undefined;
});

async function start(config: object = {}, address = 'localhost'): Promise<{ s: TestServer; r: AggregatedServer }> {
  server = await startTestServer(memory, { config });
  remote = await AggregatedServer.start({ group, version: 'v1', resources: [] }, { address });
  return { s: server, r: remote };
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

it('an aggregated server gets the audit id, X-Forwarded headers and the trace of the client', async () => {
  const { s, r } = await start();
  r.answers(`${r.path}/widgets`, {});
  await r.install(s.admin);
  const { headers: answered } = await s.admin.get(`${r.path}/widgets?limit=1`, {
    ...{ 'audit-id': 'from-client', traceparent, tracestate: 'vendor=1' },
    ...{ 'x-forwarded-for': '198.51.100.7', 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'http' },
  });
  const { headers } = r.received.findLast(({ url }) => url.includes('/widgets'))!;
  expect(headers).toMatchObject({
    'audit-id': 'from-client',
    'x-forwarded-for': '198.51.100.7, 127.0.0.1',
    'x-forwarded-host': `localhost:${r.port}`,
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': `${r.path}/widgets`,
    ...{ traceparent, tracestate: 'vendor=1' },
  });
  expect(answered['audit-id']).toBe('from-client');
});

it('an aggregated server does not choose which origins may read its answers', async () => {
  const { s, r } = await start({ serving: { corsAllowedOrigins: ['^https://dashboard\\.example\\.com$'] } });
  const allowed = { 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' };
  r.answers(`${r.path}/widgets`, {}, { ...allowed, 'access-control-expose-headers': 'date' });
  await r.install(s.admin);
  const { headers } = await s.admin.get(`${r.path}/widgets`, { origin: 'https://evil.example.com' });
  expect(headers).not.toHaveProperty('access-control-allow-origin');
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
  const own = await s.admin.get(`${r.path}/widgets`, { origin: 'https://dashboard.example.com' });
  expect(own.headers['access-control-allow-origin']).toBe('https://dashboard.example.com');
});

it('with traces, a forwarded request is a span, and the aggregated server continues it', async () => {
  const files = new ClientKubeconfigs();
  const collector = await TraceCollector.start();
  try {
    const configuration = {
      ...{ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' },
      ...{ endpoint: collector.endpoint, samplingRatePerMillion: 1_000_000 },
    };
    const configFile = files.write('tracing.yaml', JSON.stringify(configuration));
    const { s, r } = await start({ tracing: { configFile } });
    r.answers(`${r.path}/widgets`, {});
    await r.install(s.admin);
    await s.admin.get(`${r.path}/widgets`, { 'audit-id': 'traced', traceparent, tracestate: 'vendor=1' });
    await eventually('the trace is exported', () => collector.traceOf('traced').some(({ kind }) => kind === 2));
    const span = collector.traceOf('traced').find(({ name }) => name === 'HTTP GET');
    expect(span).toMatchObject({ traceId: traceparent.split('-')[1], kind: 3 });
    const { headers } = r.received.findLast(({ url }) => url.endsWith('/widgets'))!;
    expect(headers).toMatchObject({
      traceparent: `00-${span!.traceId}-${span!.spanId}-01`,
      tracestate: 'vendor=1',
    });
    await server?.stop();
    server = undefined;
  } finally {
    await collector.stop();
    files.remove();
  }
});

itWithAddress()('with --enable-aggregator-routing=false, requests go to the cluster IP of the Service', async () => {
  const address = ownAddress()!;
  const serviceClusterIpRanges = [`${address.replace(/\.\d+$/, '.0')}/24`];
  const { s, r } = await start(
    { network: { serviceClusterIpRanges }, aggregation: { routesToEndpoints: false } },
    address,
  );
  r.answers(`${r.path}/widgets`, { found: 'by cluster IP' });
  const { admin } = s;
  const services = '/api/v1/namespaces/default/services';
  const spec = { clusterIP: address, ports: [{ name: 'https', port: r.port, targetPort: 1 }] };
  expect((await admin.post(services, { metadata: { name: 'api' }, spec })).code).toBe(201);
  // An endpoint at which nothing listens.
  const slice = {
    metadata: { name: 'api-1', labels: { 'kubernetes.io/service-name': 'api' } },
    ...{ addressType: 'IPv4', ports: [{ name: 'https', port: 1 }], endpoints: [{ addresses: [address] }] },
  };
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  expect((await admin.post(slices, slice)).code).toBe(201);
  await r.install(admin);
  expect((await admin.get(`${r.path}/widgets`)).body).toEqual({ found: 'by cluster IP' });

  // A headless Service has none.
  await r.stop();
  await admin.delete(`${services}/api`);
  const headless = { metadata: { name: 'api' }, spec: { ...spec, clusterIP: 'None' } };
  expect((await admin.post(services, headless)).code).toBe(201);
  expect(await r.availability(admin, 'False', 'FailedDiscoveryCheck')).toMatchObject({
    message: expect.stringContaining('service "api" has no cluster IP'),
  });
});

it('fault plans let forwarded creates fail, whose names they do not know', async () => {
  const { s, r } = await start({ faults: { allowed: true } });
  r.answers(`${r.path}/widgets`, {});
  await r.install(s.admin);
  const received = () => r.received.filter(({ method }) => method === 'POST').length;
  const create = async (...rules: readonly object[]) => {
    expect((await s.admin.put('/debug/faults', { rules })).code).toBe(200);
    const { code } = await s.admin.post(`${r.path}/widgets`, { metadata: { name: 'a' } });
    const counts = (await s.admin.get('/debug/faults')).body.rules as readonly { readonly injected: number }[];
    return [code, counts.map(({ injected }) => injected)];
  };
  const fault = { status: 409 };
  expect(await create({ match: { resources: [`widgets.${group}`], names: ['a'] }, fault })).toEqual([200, [0]]);
  expect(received()).toBe(1);
  expect(await create({ match: { resources: [`widgets.${group}`] }, fault })).toEqual([409, [1]]);
  expect(received()).toBe(1);
});
