import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { storedClusters } from '../../src/logical-clusters/cluster-keys.js';
import { requestText } from '../harness/certificate-requests.js';
import {
  clusterObject,
  clustersPath,
  startTwoClusters,
  tokenOf,
  type ClusterClient,
  type ClusterServer,
} from '../harness/logical-clusters.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';

// An administrator of one logical cluster tries to become somebody in another one, or in the root.

const maps = '/api/v1/namespaces/default/configmaps';
const secretMark = 'only-for-its-own-cluster';
const marked = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'marked' }, data: { mark: secretMark } };

let server: ClusterServer;
let a: ClusterClient;
let b: ClusterClient;
/** The client of `a`, by HTTP/2. */
let http2: HttpClient;
beforeAll(async () => {
  ({ server, a, b } = await startTwoClusters({ authentication: { bootstrapTokens: true } }));
  http2 = server.server.client({ token: a.token, protocol: 'h2' });
  expect((await http2.get(`/clusters/a${maps}`)).code).toBe(200);
  await b.post(maps, marked);
  await server.admin.post(maps, marked);
});
afterAll(() => server.stop());

const json = (object: object) => object as { apiVersion: string; kind: string };
const accountToken = async (cluster: ClusterClient, spec: object) => {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const { body } = await cluster.post('/api/v1/namespaces/default/serviceaccounts/default/token', request);
  return body.status.token as string;
};
/** The codes of a token in its own cluster, in another one, and in the root, for a page that every user may read. */
const codesOf = async (token: string) => {
  const client = server.server.client({ token });
  const codes: number[] = [];
  for (const path of ['/clusters/a/api', '/clusters/b/api', '/api']) codes.push((await client.get(path)).code);
  return codes;
};

test('the token of an administrator is valid in its own cluster only', async () => {
  expect(await codesOf(a.token)).toEqual([200, 401, 401]);
  expect(await a.get('/apis/authorization.k8s.io/v1')).toMatchObject({ code: 200 });
});

test.each([
  '/clusters/a/../b',
  '/clusters/a/%2e%2e/b',
  '/clusters/a/..%2fb',
  '/clusters/a%2f..%2fb',
  '/clusters/a/../..',
  '/clusters/a/clusters/b',
  '/clusters/a//clusters/b',
  '/clusters//b',
  '//clusters/b',
  '/clusters/./b',
  '/%63lusters/b',
  '/clusters/%62',
  '/clusters/B',
  '/clusters/b.',
  '/clusters/b;',
  '/clusters/b%00',
  '/clusters/a\\..\\b',
  '/CLUSTERS/b',
  '/api/../clusters/b',
  'https://localhost/clusters/b',
  'https://localhost',
  '',
  '/',
])('no path of the form %s leads out of the cluster', async (prefix) => {
  for (const suffix of [
    `${maps}/marked`,
    `${maps}#`,
    '/api/v1/configmaps',
    '/api/v1/configmaps?watch=1&timeoutSeconds=1',
  ]) {
    // An empty path is none in HTTP/2.
    for (const client of `${prefix}${suffix}`.startsWith('/') ? [a.http, http2] : [a.http]) {
      const answer = await client.get(`${prefix}${suffix}`);
      expect(answer.text).not.toContain(secretMark);
      expect(answer.code).toBeGreaterThanOrEqual(400);
    }
  }
});

test('headers of proxies and of impersonation do not lead out of the cluster', async () => {
  const proxied = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'x-forwarded-prefix': '/clusters/b' };
  const impersonating = { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' };
  for (const headers of [proxied, impersonating, { ...proxied, ...impersonating }]) {
    for (const path of [`/clusters/b${maps}/marked`, `${maps}/marked`, clustersPath]) {
      expect((await a.http.get(path, headers)).code).toBe(401);
    }
  }
  const anonymous = server.server.client();
  expect((await anonymous.get(`/clusters/a${maps}`, proxied)).code).toBe(403);
  // Within the own cluster an administrator may be anybody.
  expect((await a.get(`${maps}/marked`, impersonating)).code).toBe(404);
});

test('tokens of service accounts are valid in their own cluster only, whatever their audience', async () => {
  const rootIssuer = 'https://kubernetes.default.svc';
  expect(await codesOf(await accountToken(a, {}))).toEqual([200, 401, 401]);
  for (const audience of [rootIssuer, `${rootIssuer}/clusters/b`]) {
    expect(await codesOf(await accountToken(a, { audiences: [audience] }))).toEqual([401, 401, 401]);
  }
});

test('tokens in Secrets are valid in their own cluster only, also if the Secret is copied', async () => {
  const secrets = '/api/v1/namespaces/default/secrets';
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  const type = 'kubernetes.io/service-account-token';
  const secret = { apiVersion: 'v1', kind: 'Secret', type, metadata: { name: 'token', annotations } };
  await a.post(secrets, secret);
  let data: Record<string, string> = {};
  await eventually('the Secret has a token', async () => {
    data = ((await a.get(`${secrets}/token`)).body.data ?? {}) as Record<string, string>;
    return data['token'] !== undefined;
  });
  const token = Buffer.from(data['token']!, 'base64').toString();
  expect(await codesOf(token)).toEqual([200, 401, 401]);
  await b.post(secrets, { ...secret, data });
  await server.admin.post(secrets, { ...secret, data });
  expect(await codesOf(token)).toEqual([200, 401, 401]);
});

test('bootstrap tokens are valid in their own cluster only', async () => {
  const stringData = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
  };
  const metadata = { name: 'bootstrap-token-abcdef' };
  const secret = { apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token', metadata, stringData };
  expect((await a.post('/api/v1/namespaces/kube-system/secrets', secret)).code).toBe(201);
  expect(await codesOf('abcdef.0123456789abcdef')).toEqual([200, 401, 401]);
});

test('a TokenReview knows the tokens of its own cluster only', async () => {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const review = (token: string) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } });
  expect((await a.post(path, review(a.token))).body.status.authenticated).toBe(true);
  expect((await b.post(path, review(a.token))).body.status.authenticated).toBeUndefined();
  expect((await server.admin.post(path, review(a.token))).body.status.authenticated).toBeUndefined();
});

test('of the users of the root only members of system:masters are served', async () => {
  const { keelson } = server.server;
  expect((await server.admin.get(`/clusters/b${maps}/marked`)).code).toBe(200);
  const joe = await keelson.pki.issueClient({ commonName: 'joe', organizations: ['system:nodes'] });
  const client = server.server.client(joe);
  expect((await client.get('/api')).code).toBe(200);
  expect((await client.get('/clusters/b/api')).code).toBe(401);
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const issued = await server.admin.post('/api/v1/namespaces/default/serviceaccounts/default/token', request);
  expect(await codesOf(issued.body.status.token as string)).toEqual([401, 401, 200]);
});

test('no certificate is signed in a cluster', async () => {
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const spec = {
    request: requestText({ subject: [['CN', 'system:kube-controller-manager']] }),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  };
  const created = await a.post(requests, {
    ...json({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' }),
    metadata: { name: 'mine' },
    spec,
  });
  expect(created.code).toBe(201);
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Mine', message: '' }];
  expect((await a.put(`${requests}/mine/approval`, { ...created.body, status: { conditions } })).code).toBe(200);
  // The reconcilers that run are at work.
  await a.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
  const account = '/api/v1/namespaces/later/serviceaccounts/default';
  await eventually('the namespace has its account', async () => (await a.get(account)).code === 200);
  expect((await a.get(`${requests}/mine`)).body.status.certificate).toBeUndefined();
});

test('requests through nodes, Services and APIServices of a cluster reach no other server', async () => {
  let connections = 0;
  const other = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const address = '127.0.0.1';
  other.listen(0, address).unref();
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const node = {
    ...json({ apiVersion: 'v1', kind: 'Node' }),
    metadata: { name: 'root' },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  };
  expect((await a.post('/api/v1/nodes', node)).code).toBe(201);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'root' } };
  const container = { name: 'c', image: 'i' };
  const pods = '/api/v1/namespaces/default/pods';
  expect((await a.post(pods, { ...pod, spec: { nodeName: 'root', containers: [container] } })).code).toBe(201);
  for (const path of [
    `${pods}/root/log`,
    `/api/v1/nodes/root/proxy${maps}/marked`,
    `/api/v1/nodes/https:root:${port}/proxy${maps}/marked`,
  ]) {
    const answer = await a.get(path);
    expect(answer.code).toBeGreaterThanOrEqual(400);
  }
  const service = { name: 'root', namespace: 'default', port: 443 };
  const spec = {
    group: 'remote.example.com',
    version: 'v1',
    service,
    insecureSkipTLSVerify: true,
    groupPriorityMinimum: 1,
    versionPriority: 1,
  };
  const apiService = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.remote.example.com' },
    spec,
  };
  const ports = [{ port: 443, targetPort: port }];
  await a.post('/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'root' },
    spec: { ports },
  });
  await a.post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    ...json({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' }),
    metadata: { name: 'root', labels: { 'kubernetes.io/service-name': 'root' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ port }],
  });
  const created = await a.post('/apis/apiregistration.k8s.io/v1/apiservices', apiService);
  expect(created.code).toBe(201);
  const conditions = [{ type: 'Available', status: 'True', reason: 'Mine', message: '' }];
  const status = `/apis/apiregistration.k8s.io/v1/apiservices/v1.remote.example.com/status`;
  expect((await a.put(status, { ...created.body, status: { conditions } })).code).toBe(200);
  await eventually(
    'the APIService is known',
    async () => (await a.get('/apis/remote.example.com/v1/things')).code !== 404,
  );
  expect((await a.get('/apis/remote.example.com/v1/things')).code).toBe(503);
  expect(connections).toBe(0);
  other.close();
});

test('pages about the process are not those of a cluster', async () => {
  for (const path of [
    '/metrics',
    '/metrics/slis',
    '/debug/pprof/',
    '/debug/faults',
    '/debug/flags/v',
    '/flagz',
    '/statusz',
  ]) {
    expect([path, (await a.get(path)).code]).toEqual([path, 404]);
  }
});

test('LogicalClusters are objects of the root alone', async () => {
  expect((await a.get(clustersPath)).code).toBe(404);
  expect((await a.post(clustersPath, clusterObject('c'))).code).toBe(404);
  expect((await server.server.client().get(clustersPath)).code).toBe(403);
  expect((await server.admin.post(clustersPath, clusterObject('not.a.label'))).code).toBe(422);
});

test('a cluster of the same name begins empty, and the credentials of the old one are invalid', async () => {
  const old = await server.create('again');
  await old.post(maps, marked);
  const watch = await old.watch(`${maps}?watch=1&timeoutSeconds=3600`);
  expect((await server.admin.delete(`${clustersPath}/again`)).code).toBe(200);
  await watch.rest();
  await eventually('the cluster is gone', async () => (await server.admin.get(`${clustersPath}/again`)).code === 404);
  const { components, store } = server.server.keelson;
  // The clusters a and b remain.
  expect(await storedClusters(store, components.config.storage.etcd.prefix)).toHaveLength(2);
  expect((await old.get(maps)).code).toBe(401);
  const next = await server.create('again');
  expect((await old.get(maps)).code).toBe(401);
  expect((await next.get(`${maps}/marked`)).code).toBe(404);
  expect(tokenOf(await server.kubeconfig('again'))).not.toBe(old.token);
});
