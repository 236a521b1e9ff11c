import { AggregatedServer, apiServices } from '../../../test/harness/aggregated-server.js';
import { startTestServer, type TestServer } from '../../../test/harness/servers.js';
import { until } from '../../../test/harness/until.js';

let server: TestServer;
let remote: AggregatedServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  remote = await AggregatedServer.start({ group: 'metrics.example.com', version: 'v1', resources: [] });
});
afterAll(async () => {
  await server.stop();
  await remote.stop();
});

const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const slice = (endpoints: object[], ports: object[]) => ({
  metadata: { name: 'api-1', labels: { 'kubernetes.io/service-name': 'api' } },
  addressType: 'IPv4',
  ...{ endpoints, ports },
});

it('the condition Available follows the Service and its EndpointSlices', async () => {
  const { admin } = server;
  await remote.install(admin, { service: { namespace: 'default', name: 'absent' } }, false);
  expect(await remote.availability(admin, 'False')).toMatchObject({
    reason: 'ServiceNotFound',
    message: 'service/absent in "default" is not present',
  });
  await admin.post(services, { metadata: { name: 'absent' }, spec: { ports: [{ name: 'web', port: 80 }] } });
  expect((await remote.availability(admin, 'False', 'ServicePortError')).message).toBe(
    'service/absent in "default" is not listening on port 443',
  );
  await admin.patch(`${services}/absent`, { spec: { ports: [{ name: 'https', port: 443 }] } });
  await remote.availability(admin, 'False', 'EndpointsNotFound');
  const ports = [{ name: 'https', port: 8443 }];
  const of = (endpoints: object[]) => ({
    ...slice(endpoints, ports),
    metadata: { name: 'absent-1', labels: { 'kubernetes.io/service-name': 'absent' } },
  });
  await admin.post(slices, of([{ addresses: ['10.1.2.3'], conditions: { ready: false } }]));
  await remote.availability(admin, 'False', 'MissingEndpoints');
  const { text } = await admin.get('/readyz?verbose');
  expect(text).toContain('[+]poststarthook/apiservice-status-remote-available-controller ok');
});

it('an APIService whose certificate is not valid for its Service is unavailable, unless verification is skipped', async () => {
  const { admin } = server;
  await admin.delete(`${apiServices}/${remote.name}`);
  await admin.post(services, {
    metadata: { name: 'other' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const service = { namespace: 'default', name: 'other', port: remote.port };
  await remote.install(admin, { service }, false);
  const { reason, message } = await remote.availability(admin, 'False');
  expect(reason).toBe('FailedDiscoveryCheck');
  expect(message).toContain('x509: certificate is not valid for other.default.svc');
  const { body } = await admin.get(`${apiServices}/${remote.name}`);
  const { caBundle: _, ...spec } = body.spec;
  const change = { ...body, spec: { ...spec, insecureSkipTLSVerify: true } };
  expect((await admin.put(`${apiServices}/${remote.name}`, change)).code).toBe(200);
  expect(await remote.availability(admin, 'True')).toMatchObject({ reason: 'Passed', message: 'all checks passed' });
});

it('a condition that another server overwrites is not written again and again', async () => {
  const { admin } = server;
  await remote.availability(admin, 'True');
  const { body } = await admin.get(`${apiServices}/${remote.name}`);
  const other = { type: 'Available', status: 'False', reason: 'FailedDiscoveryCheck', message: 'from another server' };
  const put = await admin.put(`${apiServices}/${remote.name}/status`, { ...body, status: { conditions: [other] } });
  expect(put.code).toBe(200);
  // The check after the change of a label comes after that of the change of the status.
  for (const label of ['a', 'b']) {
    const checks = remote.received.length;
    await admin.patch(`${apiServices}/${remote.name}`, { metadata: { labels: { label } } });
    while (remote.received.length === checks) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await remote.availability(admin, 'False')).toMatchObject({ message: 'from another server' });
});

it('an APIService that loses its Service becomes Local', async () => {
  const { admin } = server;
  const { body } = await admin.get(`${apiServices}/${remote.name}`);
  const { service: _, insecureSkipTLSVerify: __, ...spec } = body.spec;
  expect((await admin.put(`${apiServices}/${remote.name}`, { ...body, spec })).code).toBe(200);
  expect(await remote.availability(admin, 'True', 'Local')).toMatchObject({
    message: 'Local APIServices are always available',
  });
  await admin.delete(`${apiServices}/${remote.name}`);
  await until(admin, apiServices, remote.name, (object) => object === undefined);
});
