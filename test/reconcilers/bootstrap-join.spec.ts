import { X509Certificate } from 'node:crypto';
import { asFields, asItems, asText } from '../../src/machinery/fields.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { keyPem } from '../../src/certificates/authority.js';
import { dataOf, isSignedBy, tokenSecret } from '../harness/bootstrap-tokens.js';
import { newKey, requestText } from '../harness/certificate-requests.js';
import { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const infos = '/api/v1/namespaces/kube-public/configmaps';
const secrets = '/api/v1/namespaces/kube-system/secrets';
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const joinGroup = 'system:bootstrappers:kubeadm:default-node-token';
const id = 'abc123';
const secret = '0123456789abcdef';
const token = `${id}.${secret}`;

let server: TestServer;
beforeAll(async () => {
  const config = {
    authentication: { bootstrapTokens: true },
    authorization: { modes: ['Node', 'RBAC'] as const },
    reconcilers: { controllers: ['*', 'bootstrapsigner', 'tokencleaner'], bootstrapSignerKey: 'secret' as const },
  };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  await initialize();
});
afterAll(() => server.stop());

async function make(client: HttpClient, collection: string, object: object): Promise<KubeObject> {
  const { code, body } = await client.post(collection, object);
  expect([code, body.message]).toEqual([201, undefined]);
  return body as KubeObject;
}

/** Creates the objects that `kubeadm init` leaves for joining nodes. */
async function initialize(): Promise<void> {
  const { admin, url, keelson } = server;
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(keelson.ca).toString('base64') };
  const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] });
  await make(admin, infos, { metadata: { name: 'cluster-info' }, data: { kubeconfig } });
  const name = 'kubeadm:bootstrap-signer-clusterinfo';
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }];
  await make(admin, `${rbac}/namespaces/kube-public/roles`, { metadata: { name }, rules });
  await make(admin, `${rbac}/namespaces/kube-public/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [{ apiGroup, kind: 'User', name: 'system:anonymous' }],
  });
  const csr = 'system:certificates.k8s.io:certificatesigningrequests';
  for (const [binding, role, group] of [
    ['kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', joinGroup],
    ['kubeadm:node-autoapprove-bootstrap', `${csr}:nodeclient`, joinGroup],
    ['kubeadm:node-autoapprove-certificate-rotation', `${csr}:selfnodeclient`, 'system:nodes'],
    // In place of the authorization mode Node, which grants nothing here.
    ['nodes', 'system:node', 'system:nodes'],
  ]) {
    await make(admin, `${rbac}/clusterrolebindings`, {
      metadata: { name: binding },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup, kind: 'Group', name: group }],
    });
  }
  await make(admin, secrets, tokenSecret(id, secret, { 'auth-extra-groups': joinGroup }));
}

const whoAmI = async (client: HttpClient) => {
  const { code, body } = await client.post(reviews, {});
  return code === 201 ? (body.status.userInfo as Record<string, unknown>) : code;
};
const nodeRequest = (node: string, key = newKey()) => ({
  signerName: nodeSigner,
  request: requestText({ subject: [['O', 'system:nodes'], ['CN', `system:node:${node}`]], key }), // prettier-ignore
  usages: ['digital signature', 'client auth'],
});
const certificateOf = (request: KubeObject | undefined) => asText(asFields(request?.['status'])['certificate']);
const typesOf = (request: KubeObject) =>
  asItems(asFields(request['status'])['conditions']).map((condition) => condition['type']);

/** Requests a certificate for a node as a kubelet does, and returns a client with it. */
async function certified(client: HttpClient, name: string, node: string): Promise<HttpClient> {
  const key = newKey();
  await make(client, requests, { metadata: { name }, spec: nodeRequest(node, key) });
  const found = await until(client, requests, name, (request) => certificateOf(request) !== '');
  const certificate = Buffer.from(certificateOf(found), 'base64').toString();
  expect(new X509Certificate(certificate).subject).toBe(`O=system:nodes\nCN=system:node:${node}`);
  return server.client({ certificate, key: keyPem(key) });
}

it('a node joins with a bootstrap token and then authenticates with its own certificate', async () => {
  await until(server.admin, infos, 'cluster-info', (info) => isSignedBy(info, id, secret));

  const anonymous = server.client();
  const { code, body: info } = await anonymous.get(`${infos}/cluster-info`);
  expect([code, isSignedBy(info, id, secret), isSignedBy(info, id, token)]).toEqual([200, true, false]);
  expect((await anonymous.get(infos)).code).toBe(403);
  const tampered = { ...info, data: { ...info.data, kubeconfig: `${info.data.kubeconfig} ` } };
  expect(isSignedBy(tampered, id, secret)).toBe(false);

  // Trusts the CA in the verified kubeconfig from here on.
  const { cluster } = JSON.parse(asText(dataOf(info)['kubeconfig'])).clusters[0];
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  const joining = new HttpClient({ url: cluster.server, ca, token });
  try {
    expect(await whoAmI(joining)).toMatchObject({
      username: `system:bootstrap:${id}`,
      groups: ['system:bootstrappers', joinGroup, 'system:authenticated'],
    });
    expect((await joining.get(`${secrets}/bootstrap-token-${id}`)).code).toBe(403);

    const kubelet = await certified(joining, 'node-csr-1', 'n1');
    expect(await whoAmI(kubelet)).toMatchObject({
      username: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    });
    await make(kubelet, '/api/v1/nodes', { metadata: { name: 'n1' } });

    const rotated = await certified(kubelet, 'node-csr-2', 'n1');
    expect(await whoAmI(rotated)).toMatchObject({ username: 'system:node:n1' });
  } finally {
    joining.close();
  }
});

it('requests of a bootstrap token for other certificates are not approved, and a node gets none of another node', async () => {
  const joining = server.client({ token });
  const kubelet = await certified(joining, 'n3', 'n3');
  const foreign = { ...nodeRequest('n3'), signerName: 'kubernetes.io/kubelet-serving' };
  await make(joining, requests, { metadata: { name: 'serving' }, spec: foreign });
  const user = { ...nodeRequest('x'), request: requestText({ subject: [['CN', 'someone']] }) };
  await make(joining, requests, { metadata: { name: 'someone' }, spec: user });
  expect((await kubelet.post(requests, { metadata: { name: 'other' }, spec: nodeRequest('n4') })).code).toBe(201);
  const masters = {
    ...nodeRequest('x'),
    signerName: 'kubernetes.io/kube-apiserver-client',
    request: requestText({ subject: [['O', 'system:masters'], ['CN', 'eve']] }), // prettier-ignore
  };
  expect((await joining.post(requests, { metadata: { name: 'eve' }, spec: masters })).code).toBe(403);
  await certified(joining, 'after', 'n5');
  for (const name of ['serving', 'someone', 'other']) {
    expect(typesOf((await server.admin.get(`${requests}/${name}`)).body)).toEqual([]);
  }
});

it.each([
  ['that may only sign', { 'usage-bootstrap-authentication': 'false' }],
  ['that has expired', { expiration: '2020-01-01T00:00:00Z' }],
  ['whose expiration is not a time', { expiration: '2999-01-01' }],
  ['with a group of others', { 'auth-extra-groups': 'system:masters' }],
])('a bootstrap token %s is rejected (401)', async (_what, data) => {
  const other = 'rej123';
  await make(server.admin, secrets, tokenSecret(other, secret, data));
  expect(await whoAmI(server.client({ token: `${other}.${secret}` }))).toBe(401);
  await server.admin.delete(`${secrets}/bootstrap-token-${other}`);
  await untilGone(server.admin, secrets, `bootstrap-token-${other}`);
});

it('a deleted token is rejected (401), and its signature is removed', async () => {
  const [gone, key] = ['gon123', 'fedcba9876543210'];
  await make(server.admin, secrets, tokenSecret(gone, key));
  await until(server.admin, infos, 'cluster-info', (info) => isSignedBy(info, gone, key));
  const client = server.client({ token: `${gone}.${key}` });
  expect(await whoAmI(client)).toMatchObject({ username: `system:bootstrap:${gone}` });
  await server.admin.delete(`${secrets}/bootstrap-token-${gone}`);
  await until(server.admin, infos, 'cluster-info', (info) => dataOf(info)[`jws-kubeconfig-${gone}`] === undefined);
  expect(await whoAmI(client)).toBe(401);
});
