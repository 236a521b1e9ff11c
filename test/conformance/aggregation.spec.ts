import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { AggregatedServer, apiServices } from '../harness/aggregated-server.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import type { HttpClient } from '../harness/http-client.js';

const widgets = {
  ...{ name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', shortNames: ['wd'] },
  verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
};
const widgetStatus = { ...widgets, name: 'widgets/status', singularName: '', shortNames: [], verbs: ['get'] };
const group = 'shop.example.com';
const widget = { kind: 'Widget', apiVersion: `${group}/v1`, metadata: { name: 'a', namespace: 'default' } };

let server: TestServer;
let admin: HttpClient;
let remote: AggregatedServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  admin = server.admin;
  const { data } = (await admin.get('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'))
    .body;
  remote = await AggregatedServer.start(
    { group, version: 'v1', resources: [widgets, widgetStatus] },
    { clientCa: data['requestheader-client-ca-file'] },
  );
  remote.answers(`${remote.path}/namespaces/default/widgets/a`, widget);
  remote.answers(`${remote.path}/namespaces/default/widgets`, widget);
  await remote.install(admin);
});
afterAll(async () => {
  await server.stop();
  await remote.stop();
});
beforeEach(() => remote.received.splice(0));

const itemPath = `/apis/${group}/v1/namespaces/default/widgets/a`;
const last = () => remote.received.findLast(({ url }) => url.includes('/widgets'))!;

it('a request for the group of an APIService is forwarded with the user in headers', async () => {
  const { code, body } = await admin.get(`${itemPath}?pretty=false`, {
    'x-remote-user': 'mallory',
    'x-remote-extra-scopes': 'all',
  });
  expect([code, body]).toEqual([200, widget]);
  const { url, headers, clientName } = last();
  expect(url).toBe(`${itemPath}?pretty=false`);
  expect(clientName).toBe('front-proxy-client');
  expect(headers).toMatchObject({ 'x-remote-user': 'kubernetes-admin', host: `localhost:${remote.port}` });
  expect(headers['x-remote-group']).toBe('system:masters, system:authenticated');
  expect(headers).not.toHaveProperty('x-remote-extra-scopes');
  expect(headers).not.toHaveProperty('authorization');
});

it('an aggregated server gets the impersonated user and no Impersonate headers', async () => {
  const { code } = await admin.get(itemPath, {
    'impersonate-user': Buffer.from('jané').toString('latin1'),
    'impersonate-group': 'system:masters',
    'impersonate-extra-acme%2fteam': 'blue',
  });
  expect(code).toBe(200);
  const { headers } = last();
  expect(Buffer.from(String(headers['x-remote-user']), 'latin1').toString()).toBe('jané');
  expect(headers).toMatchObject({ 'x-remote-extra-acme%2fteam': 'blue' });
  expect(Object.keys(headers).filter((name) => name.startsWith('impersonate'))).toEqual([]);
});

it('a user without a permission for an aggregated resource gets 403, and nothing is forwarded', async () => {
  const { code, body } = await admin.get(itemPath, { 'impersonate-user': 'nobody' });
  expect(code).toBe(403);
  expect(body.message).toContain('cannot get resource "widgets" in API group "shop.example.com"');
  expect(remote.received.filter(({ url }) => url.includes('/widgets'))).toEqual([]);
});

it('a request with a body is forwarded once, with its Content-Type', async () => {
  const { code } = await admin.post(`/apis/${group}/v1/namespaces/default/widgets`, { ...widget, spec: 'é' });
  expect(code).toBe(200);
  const posts = remote.received.filter(({ method }) => method === 'POST');
  expect(posts).toHaveLength(1);
  expect(posts[0]!.body).toContain('"é"');
  expect(posts[0]!.headers['content-type']).toBe('application/json');
});

it('an Accept header that this server cannot satisfy is left to the aggregated server', async () => {
  const { code } = await admin.get(itemPath, { accept: 'application/x-widget' });
  expect(code).toBe(200);
  expect(last().headers.accept).toBe('application/x-widget');
});

it('the events of a watch arrive as the aggregated server sends them', async () => {
  remote.handlers.set(`${remote.path}/namespaces/default/slow`, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`${JSON.stringify({ type: 'ADDED', object: widget })}\n`);
  });
  const watch = await admin.watch(`/apis/${group}/v1/namespaces/default/slow?watch=1`);
  expect(await watch.next()).toMatchObject({ type: 'ADDED', object: widget });
  watch.close();
});

it('a request that switches protocols is forwarded, and bytes pass in both directions', async () => {
  const { hostname, port } = new URL(server.url);
  const { certificate: cert, key } = server.keelson.client;
  const headers = { connection: 'Upgrade', upgrade: 'echo', 'x-remote-user': 'mallory' };
  const path = `${itemPath}/console`;
  const request = https.request({ hostname, port, path, headers, cert, key, ca: server.keelson.ca, agent: false });
  request.end();
  const [answer, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex];
  expect([answer.statusCode, answer.headers.upgrade]).toEqual([101, 'echo']);
  socket.write('hello');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  expect(bytes.toString()).toBe('hello');
  socket.destroy();
  expect(last()).toMatchObject({ url: path, headers: { 'x-remote-user': 'kubernetes-admin' } });
});

it('discovery lists the aggregated group with its resources', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const find = async () => {
    const { body } = await admin.get('/apis', { accept });
    return body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group);
  };
  await eventually('the resources are discovered', async () => (await find())?.versions[0].freshness === 'Current');
  expect((await find()).versions).toEqual([
    {
      version: 'v1',
      freshness: 'Current',
      resources: [
        expect.objectContaining({
          resource: 'widgets',
          scope: 'Namespaced',
          shortNames: ['wd'],
          subresources: [expect.objectContaining({ subresource: 'status', verbs: ['get'] })],
        }),
      ],
    },
  ]);
  const { body: list } = await admin.get('/apis');
  expect(list.groups.map(({ name }: { name: string }) => name)).toContain(group);
  const { body: one } = await admin.get(`/apis/${group}`);
  expect(one).toMatchObject({ kind: 'APIGroup', preferredVersion: { groupVersion: `${group}/v1` } });
  const { body: resources } = await admin.get(`/apis/${group}/v1`);
  expect(resources.resources.map(({ name }: { name: string }) => name)).toEqual(['widgets', 'widgets/status']);
});

it('a redirect of an aggregated server is answered with 502', async () => {
  remote.handlers.set(`${remote.path}/namespaces/default/moved`, (_request, response) => {
    response.writeHead(302, { location: 'https://169.254.169.254/' });
    response.end();
  });
  const { code, text, headers } = await admin.get(`/apis/${group}/v1/namespaces/default/moved`);
  expect([code, text.trim()]).toEqual([502, 'the backend attempted to redirect this request, which is not permitted']);
  expect(headers).not.toHaveProperty('location');
});

it('an APIService for a group of this server does not redirect its requests', async () => {
  const name = 'v1.apps';
  const { body: before } = await admin.get(`${apiServices}/${name}`);
  const service = { namespace: 'default', name: 'api', port: remote.port };
  const { code } = await admin.put(`${apiServices}/${name}`, {
    ...before,
    spec: { ...before.spec, service, insecureSkipTLSVerify: true },
  });
  expect(code).toBe(200);
  const { body } = await admin.get('/apis/apps/v1/deployments');
  expect(body.kind).toBe('DeploymentList');
  expect(remote.received.filter(({ url }) => url.includes('deployments'))).toEqual([]);
});

it('an aggregated server that is gone answers 503, and other groups are not affected', async () => {
  await remote.stop();
  const { code, text } = await admin.get(itemPath);
  expect(code).toBe(503);
  expect(text).toMatch(/^(error trying to reach service: |service unavailable)/);
  const { reason, message } = await remote.availability(admin, 'False');
  expect(reason).toBe('FailedDiscoveryCheck');
  expect(message).toContain(`failing or missing response from https://localhost:${remote.port}/apis/${group}/v1`);
  const after = await admin.get(itemPath);
  expect([after.code, after.text]).toEqual([503, 'service unavailable\n']);
  expect((await admin.get('/api/v1/namespaces')).code).toBe(200);
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  await eventually('discovery is stale', async () => {
    const { body } = await admin.get('/apis', { accept });
    const found = body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group);
    return found.versions[0].freshness === 'Stale' && found.versions[0].resources === undefined;
  });
  const { text: metrics } = await admin.get('/metrics');
  expect(metrics).toContain(`aggregator_unavailable_apiservice{name="v1.${group}"} 1`);
  expect(metrics).toMatch(
    /aggregator_unavailable_apiservice_total\{name="v1.shop.example.com",reason="FailedDiscoveryCheck"\} [1-9]/,
  );
  await remote.listen();
  await remote.availability(admin, 'True');
  expect((await admin.get(itemPath)).code).toBe(200);
});
