import { gunzipSync, gzipSync } from 'node:zlib';
import { findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import { packageRoot } from '../../src/config/config-files.js';
import { SeededRng } from '../../src/std/rng.js';
import type { HttpClient } from '../harness/http-client.js';
import { itWithAddress, ownAddress, startKubelet, type TestKubelet } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Proxies to Pods, Services and nodes. They refuse loopback, so that these tests use another address of the machine.

const namespace = '/api/v1/namespaces/default';
const itReaches = itWithAddress();
const address = ownAddress() ?? '192.0.2.1';
let upstream: TestKubelet;
let server: TestServer;
let clients: Readonly<Record<'http/1.1' | 'h2', HttpClient>>;

beforeAll(async () => {
  upstream = await startKubelet();
  const { caFile, clientCertFile, clientKeyFile } = upstream.certificates;
  const kubelets = { certificateAuthority: caFile, clientCertificate: clientCertFile, clientKey: clientKeyFile };
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { kubelets: { ...kubelets, preferredAddressTypes: ['InternalIP'] } } },
  );
  clients = { 'http/1.1': server.admin, h2: server.client({ ...server.keelson.client, protocol: 'h2' }) };
  await addNode('node', address);
  await addNode('loopback', '127.0.0.1');
  await addNode('metadata', '169.254.169.254');
  await addNode('named-loopback', 'localhost');
  await addPod('pod', address);
  await addPod('metadata', '169.254.169.254');
  await addService('shop', 'pod', address);
  await addService('theft', 'none', address);
  await addService('other', 'pod', '192.0.2.9');
});
afterAll(async () => {
  upstream.stop();
  await server.stop();
});
beforeEach(() => {
  upstream.urls.length = 0;
  upstream.handler = (_request, response) => response.end('ok');
});

async function addNode(name: string, host: string): Promise<void> {
  const daemonEndpoints = { kubeletEndpoint: { Port: upstream.port } };
  await server.admin.post('/api/v1/nodes', { metadata: { name } });
  const status = { addresses: [{ type: 'InternalIP', address: host }], daemonEndpoints };
  expect((await server.admin.patch(`/api/v1/nodes/${name}/status`, { status })).code).toBe(200);
}

async function addPod(name: string, ip: string): Promise<void> {
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: upstream.port }] }];
  expect((await server.admin.post(`${namespace}/pods`, { metadata: { name }, spec: { containers } })).code).toBe(201);
  const status = { podIP: ip, podIPs: [{ ip }] };
  expect((await server.admin.patch(`${namespace}/pods/${name}/status`, { status })).code).toBe(200);
}

/** Creates a Service with port 443 named `web`, and its Endpoints. */
async function addService(name: string, podName: string, ip: string): Promise<void> {
  const spec = { ports: [{ name: 'web', port: 443, targetPort: upstream.port }] };
  expect((await server.admin.post(`${namespace}/services`, { metadata: { name }, spec })).code).toBe(201);
  const addresses = [{ ip, targetRef: { kind: 'Pod', namespace: 'default', name: podName } }];
  const subsets = [{ addresses, ports: [{ name: 'web', port: upstream.port }] }];
  expect((await server.admin.post(`${namespace}/endpoints`, { metadata: { name }, subsets })).code).toBe(201);
}

describe.each(['http/1.1', 'h2'] as const)('by %s', (protocol) => {
  itReaches('a request to a node is forwarded with its method, path, query and body', async () => {
    let body = '';
    upstream.handler = (request, response) => {
      request.on('data', (bytes: Buffer) => (body += bytes.toString()));
      request.on('end', () =>
        response.writeHead(418, { 'x-kept': 'y', 'access-control-allow-origin': '*' }).end('tea'),
      );
    };
    const headers = { authorization: 'Bearer secret', 'x-remote-user': 'admin', 'content-type': 'text/plain' };
    const path = '/api/v1/nodes/node/proxy/a/../b%20c/?q=%2F&watch=1';
    const answer = await clients[protocol].request('POST', path, { body: 'hello', headers });
    expect([answer.code, answer.text, answer.headers['x-kept'], body]).toEqual([418, 'tea', 'y', 'hello']);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(upstream.urls).toEqual(['POST /b%20c/?q=%2F&watch=1']);
    expect(upstream.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'content-type': 'text/plain' });
    for (const name of ['authorization', 'x-remote-user']) expect(upstream.headers).not.toHaveProperty(name);
  });
});

itReaches.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s is proxied to a node', async (method) => {
  const { code } = await server.admin.request(method, '/api/v1/nodes/node/proxy/x');
  expect([code, upstream.urls]).toEqual([200, [`${method} /x`]]);
});

it.each<[string, number, string]>([
  ['nodes/loopback/proxy/x', 400, 'address not allowed'],
  ['nodes/named-loopback/proxy/x', 400, 'address not allowed'],
  ['nodes/metadata/proxy/latest/', 400, 'address not allowed'],
  ['nodes/metadata:80/proxy/latest/', 400, 'address not allowed'],
  ['nodes/ftp:node:1/proxy/x', 400, 'invalid node request "ftp:node:1"'],
  ['nodes/a:b:c:d/proxy/x', 400, 'invalid node request "a:b:c:d"'],
  ['nodes/none/proxy/x', 404, 'nodes "none" not found'],
  ['namespaces/default/pods/metadata/proxy/x', 400, 'address not allowed'],
  [
    'namespaces/default/pods/pod:http/proxy/x',
    503,
    'error trying to reach service: dial tcp: lookup tcp/http: unknown port',
  ],
  ['namespaces/default/services/none/proxy/x', 404, 'endpoints "none" not found'],
  ['namespaces/default/services/shop:80/proxy/x', 503, 'no service port 80 found for service "shop"'],
  ['namespaces/default/services/shop/proxy/x', 503, 'no endpoints available for service "shop"'],
  ['namespaces/default/services/theft:web/proxy/x', 503, 'no endpoints available for service "theft:web"'],
  ['namespaces/default/services/other:web/proxy/x', 503, 'no endpoints available for service "other:web"'],
])('%s is refused (%i)', async (path, code, message) => {
  const answer = await server.admin.get(`/api/v1/${path}`);
  expect([answer.code, answer.body?.message, upstream.urls]).toEqual([code, message, []]);
});

itReaches('a closed port of a node is an error of the service (503)', async () => {
  const { code, body } = await server.admin.get('/api/v1/nodes/node:1/proxy/x');
  const message = `error trying to reach service: dial tcp ${address}:1: connect: connection refused`;
  expect([code, body.message, body.reason]).toEqual([503, message, 'ServiceUnavailable']);
});

it.each(['nodes/node/proxy', 'namespaces/default/pods/https:pod:/proxy'])(
  'GET of %s without a slash is redirected to the root',
  async (path) => {
    const answer = await server.admin.get(`/api/v1/${path}?a=b`);
    expect([answer.code, answer.headers.location]).toEqual([301, `/api/v1/${path}/?a=b`]);
  },
);

itReaches('links of a page and redirects lead through the server', async () => {
  const page = '<a href="/next/">next</a>';
  upstream.handler = ({ url }, response) => {
    if (url === '/moved') return void response.writeHead(302, { location: '/there?x=1' }).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' });
    response.end(gzipSync(page));
  };
  const root = '/api/v1/nodes/node/proxy';
  const answer = await server.admin.get(`${root}/page`);
  expect(gunzipSync(answer.bytes).toString()).toBe(`<a href="${root}/next/">next</a>`);
  expect((await server.admin.get(`${root}/moved`)).headers.location).toBe(`${root}/there?x=1`);
});

itReaches('a page that is not the gzip that it claims to be is cut, and the server goes on', async () => {
  upstream.handler = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
    response.end('garbage');
  };
  const answer = await server.admin.open('GET', '/api/v1/nodes/node/proxy/page');
  answer.body.resume();
  expect([answer.code, await answer.ended]).toEqual([200, 'cut']);
  expect((await server.admin.get('/livez')).code).toBe(200);
});

it('hostile paths of proxies are never an error of the server, and reach no other address', async () => {
  const rng = new SeededRng(50);
  const pieces = ['..', '%2e%2e', '%2f', '%00', '%0d%0a', '/', '//', 'http://169.254.169.254/', '@127.0.0.1', ':', '%', '%zz', '?', '#', ';', '\\', '%ff', '%C3%A9', '*', '[::1]', 'https:', 'node', 'metadata', 'pod', 'shop:web']; // prettier-ignore
  const roots = ['/api/v1/nodes/', `${namespace}/pods/`, `${namespace}/services/`];
  const pick = (from: readonly string[]) => from[rng.below(from.length)]!;
  const several = () => Array.from({ length: rng.below(4) }, () => pick(pieces)).join('');
  for (let round = 0; round < 300; round++) {
    const path = `${pick(roots)}${several()}${pick(['/proxy', '/proxy/', '/exec', '/log'])}${several()}`;
    const { code } = await server.admin.get(path);
    // 503: a Service without endpoints, or a port that is closed.
    expect([path, code < 500 || code === 503]).toEqual([path, true]);
  }
  expect(upstream.urls.filter((url) => !url.startsWith('GET /'))).toEqual([]);
});

const [kubectl] = findKubectls(packageRoot);
(kubectl ? itReaches : it.skip)(`kubectl reads a path of a node and a log (${howToGetKubectl})`, async () => {
  upstream.handler = ({ url }, response) => response.end(`answer to ${url}\n`);
  const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] };
  await server.admin.post(`${namespace}/pods`, { metadata: { name: 'logged' }, spec });
  const runner = await KubectlRunner.open(kubectl!, await server.keelson.kubeconfigFile());
  const run = async (...args: string[]) => (await runner.run({ name: args.join(' '), args })).stdout;
  expect(await run('get', '--raw', '/api/v1/nodes/node/proxy/healthz')).toBe('answer to /healthz\n');
  expect(await run('logs', '-f', 'logged', '--tail=3')).toBe(
    'answer to /containerLogs/default/logged/c?follow=true&tailLines=3\n',
  );
  await runner.close();
});
