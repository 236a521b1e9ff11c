import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { AggregatedServer, apiServices } from '../harness/aggregated-server.js';
import { makeEtcdCertificates } from '../harness/etcd-certificates.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { untilGone } from '../harness/until.js';

const group = 'hostile.example.com';
const memory = { store: 'memory', naming: 'kubernetes' } as const;
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

let server: TestServer;
let admin: HttpClient;
let remote: AggregatedServer;
beforeEach(async () => {
  server = await startTestServer(memory);
  ({ admin } = server);
  remote = await AggregatedServer.start({ group, version: 'v1', resources: [] });
});
afterEach(async () => {
  await server.stop();
  await remote.stop();
});

it('a user who may do everything in a namespace cannot create or change APIServices', async () => {
  await admin.post('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
    metadata: { name: 'mallory' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
  });
  const mallory = { 'impersonate-user': 'mallory' };
  await eventually('the role is bound', async () => {
    return (await admin.get('/api/v1/namespaces/default/secrets', mallory)).code === 200;
  });
  expect((await admin.post(apiServices, remote.apiService(), mallory)).code).toBe(403);
  await remote.install(admin);
  const item = `${apiServices}/${remote.name}`;
  const { body } = await admin.get(item);
  expect((await admin.put(item, body, mallory)).code).toBe(403);
  expect((await admin.put(`${item}/status`, body, mallory)).code).toBe(403);
  expect((await admin.delete(item, undefined, mallory)).code).toBe(403);
  expect((await admin.get(`${remote.path}/anything`, mallory)).code).toBe(403);
});

it('an APIService of the core group does not redirect its requests', async () => {
  const item = `${apiServices}/v1.`;
  const { body } = await admin.get(item);
  await remote.install(admin);
  const service = { namespace: 'default', name: 'api', port: remote.port };
  const spec = { ...body.spec, service, insecureSkipTLSVerify: true };
  const { code } = await admin.put(item, { ...body, spec });
  expect([200, 422]).toContain(code);
  expect((await admin.get('/api/v1/namespaces/default/secrets')).body.kind).toBe('SecretList');
  expect((await admin.get('/api/v1')).body.kind).toBe('APIResourceList');
  expect(remote.received.filter(({ url }) => url.startsWith('/api/'))).toEqual([]);
});

it('names of prototypes in discovery are names like others', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const resources = names.map((resource) => ({
    ...{ resource, scope: 'Namespaced', verbs: ['get', 'list', 'delete', 'deletecollection'] },
    responseKind: { group: '__proto__', version: 'constructor', kind: '__proto__' },
    subresources: [{ subresource: '__proto__', verbs: ['get'] }],
  }));
  const versions = [{ version: 'v1', resources }];
  remote.answers(
    '/apis',
    { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: group }, versions }] },
    { 'content-type': aggregated },
  );
  const paths = `{"__proto__":{"get":{}},"${remote.path}/__proto__":{"get":{"operationId":"__proto__"}}}`;
  remote.handlers.set('/openapi/v2', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"swagger":"2.0","paths":${paths},"definitions":{"__proto__":{"type":"object"}}}`);
  });
  await remote.install(admin);
  const text = async () => (await admin.get('/apis', { accept: aggregated })).text;
  await eventually('they are discovered', async () => (await text()).includes('"hasOwnProperty"'));
  for (const name of names) expect(await text()).toContain(`"resource":"${name}"`);
  expect((await admin.get('/openapi/v2')).code).toBe(200);
  expect({}).not.toHaveProperty('get');
});

it('lists that never end, and items that are no objects, do not stop the deletion of a namespace', async () => {
  const resource = { name: 'traps', singularName: 'trap', namespaced: true, kind: 'Trap', verbs: ['list', 'delete'] };
  remote.answers(remote.path, { kind: 'APIResourceList', groupVersion: `${group}/v1`, resources: [resource] });
  const items = [null, 7, 'x', { metadata: [] }, { metadata: { name: '../../../api/v1/secrets', finalizers: 'f' } }];
  let lists = 0;
  remote.handlers.set(`${remote.path}/namespaces/cursed/traps`, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ metadata: { continue: lists++ < 20 ? 'again' : '' }, items }));
  });
  await remote.install(admin);
  await eventually('traps are discovered', async () => {
    return (await admin.get('/apis', { accept: aggregated })).text.includes('"traps"');
  });
  await admin.post('/api/v1/namespaces', { metadata: { name: 'cursed' } });
  await admin.delete('/api/v1/namespaces/cursed');
  await untilGone(admin, '/api/v1/namespaces', 'cursed');
  expect(remote.received.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

it.each<[string, number, string]>([
  ['a 404 that names no object', 404, '404 page not found'],
  ['a 404 about another object', 404, '{"kind":"Status","reason":"NotFound","details":{"name":"other"}}'],
  ['an error', 500, '{"kind":"Status","reason":"NotFound","details":{"name":"owner"}}'],
  ['another object', 200, '{"metadata":{"name":"other","uid":"u"}}'],
  ['no JSON', 200, '<html>'],
])('%s as the answer about an owner does not delete its dependents', async (_what, code, text) => {
  const resource = { name: 'traps', singularName: 'trap', namespaced: true, kind: 'Trap', verbs: ['get', 'list'] };
  remote.answers(remote.path, { kind: 'APIResourceList', groupVersion: `${group}/v1`, resources: [resource] });
  const item = `${remote.path}/namespaces/default/traps/owner`;
  remote.handlers.set(item, (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(text);
  });
  await remote.install(admin);
  await eventually('traps are discovered', async () => {
    return (await admin.get('/apis', { accept: aggregated })).text.includes('"traps"');
  });
  const configMaps = '/api/v1/namespaces/default/configmaps';
  const dependent = (name: string, owner: object) => ({ metadata: { name, ownerReferences: [owner] } });
  const uid = '11111111-2222-3333-4444-555555555555';
  const owner = { apiVersion: `${group}/v1`, kind: 'Trap', name: 'owner', uid };
  expect((await admin.post(configMaps, dependent('kept', owner))).code).toBe(201);
  await eventually('the owner was asked for', () => remote.received.some(({ url }) => url === item));
  const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid };
  expect((await admin.post(configMaps, dependent('marker', absent))).code).toBe(201);
  await untilGone(admin, configMaps, 'marker');
  expect((await admin.get(`${configMaps}/kept`)).code).toBe(200);
  const asked = remote.received.find(({ url }) => url === item)!;
  expect(asked.headers['x-remote-user']).toBe('system:serviceaccount:kube-system:generic-garbage-collector');
});

it.each([
  ['101 without an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['101 to another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nPRI'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['a head of 1 MB', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1_000_000)}\r\n\r\n`],
])('%s as the answer of an aggregated server is answered with 503', async (_what, text) => {
  await remote.install(admin);
  const { certificate: cert, key } = remote.certificate;
  await remote.stop();
  const sockets = new Set<Socket>();
  const raw = createServer({ cert, key }, (socket: TLSSocket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(text));
  });
  raw.on('connection', (socket: Socket) => sockets.add(socket));
  raw.listen(remote.port, 'localhost');
  await once(raw, 'listening');
  try {
    const { code } = await admin.get(`${remote.path}/anything`);
    expect(code).toBe(503);
    expect(await remote.availability(admin, 'False')).toMatchObject({ reason: 'FailedDiscoveryCheck' });
    expect((await admin.get('/api/v1/namespaces')).code).toBe(200);
  } finally {
    raw.close();
    for (const socket of sockets) socket.destroy();
  }
});

it('an APIService whose Service is this server does not forward a request again and again', async () => {
  await server.stop();
  const folder = await mkdtemp(join(tmpdir(), 'keelson-loop-'));
  // This server trusts its own proxy client certificate, as in clusters of kubeadm.
  const { clientCertFile, clientKeyFile, caFile } = await makeEtcdCertificates(folder);
  const requestHeader = {
    ...{ clientCaFile: caFile, allowedNames: [], usernameHeaders: ['X-Remote-User'] },
    ...{ groupHeaders: ['X-Remote-Group'], extraHeaderPrefixes: ['X-Remote-Extra-'] },
  };
  server = await startTestServer(memory, {
    config: {
      aggregation: { proxyClientCertFile: clientCertFile, proxyClientKeyFile: clientKeyFile },
      authentication: { requestHeader },
    },
  });
  ({ admin } = server);
  await rm(folder, { recursive: true });
  const service = { namespace: 'default', name: 'api', port: Number(new URL(server.url).port) };
  await remote.install(admin, { service, caBundle: undefined, insecureSkipTLSVerify: true }, false);
  // It never becomes available by itself.
  expect(await remote.availability(admin, 'False')).toMatchObject({ reason: 'FailedDiscoveryCheck' });
  const item = `${apiServices}/${remote.name}`;
  const conditions = [{ type: 'Available', status: 'True', reason: 'Passed', message: 'a lie' }];
  expect((await admin.patch(`${item}/status`, { status: { conditions } })).code).toBe(200);
  const { code, text } = await admin.get(`${remote.path}/anything`);
  expect(code).toBe(503);
  expect(text).toContain(`the API server of ${remote.name} forwards requests to this server, which has forwarded them`);
});
