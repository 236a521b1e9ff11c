import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { asFields, asItems, asText } from '../../src/machinery/fields.js';
import { keyPem } from '../../src/certificates/authority.js';
import { newKey, requestText, type RequestParts } from '../harness/certificate-requests.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const clientUsages = ['digital signature', 'key encipherment', 'client auth'];

let server: TestServer;
let client: HttpClient;
beforeAll(async () => {
  const config = { authorization: { modes: ['Node', 'RBAC'] as const } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  client = server.client(server.keelson.client);
});
afterAll(() => server.stop());

const make = (name: string, signer: string, parts: RequestParts, spec: object = {}) =>
  client.post(requests, {
    metadata: { name },
    spec: { signerName: `kubernetes.io/${signer}`, request: requestText(parts), usages: clientUsages, ...spec },
  });
const decide = async (name: string, type: 'Approved' | 'Denied') => {
  const condition = { type, status: 'True', reason: 'Test' };
  const { code } = await client.request('PATCH', `${requests}/${name}/approval`, {
    body: { status: { conditions: [condition] } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  expect(code).toBe(200);
};
const conditionsOf = (request: KubeObject | undefined) => asItems(asFields(request?.['status'])['conditions']);
const has = (type: string) => (request: KubeObject | undefined) =>
  conditionsOf(request).some((condition) => condition['type'] === type);
const certificateOf = (request: KubeObject | undefined) => asText(asFields(request?.['status'])['certificate']);
const signed = async (name: string) => {
  const found = await until(
    client,
    requests,
    name,
    (request) => certificateOf(request) !== '' || has('Failed')(request),
  );
  return Buffer.from(certificateOf(found), 'base64').toString();
};

it('an approved request gets a certificate that authenticates its user', async () => {
  const key = newKey();
  const subject: RequestParts['subject'] = [['O', 'dev'], ['CN', 'joe']]; // prettier-ignore
  await make('joe', 'kube-apiserver-client', { subject, key }, { expirationSeconds: 3600 });
  await decide('joe', 'Approved');
  const certificate = await signed('joe');
  const { validFrom, validTo } = new X509Certificate(certificate);
  expect(Date.parse(validTo) - Date.parse(validFrom)).toBe(3_900_000);
  const joe = server.client({ certificate, key: keyPem(key) });
  const { body } = await joe.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect(body.status.userInfo).toMatchObject({ username: 'joe', groups: ['dev', 'system:authenticated'] });
});

it('a request that is not approved, denied, or of another signer gets no certificate', async () => {
  const parts: RequestParts = { subject: [['CN', 'joe']] };
  await make('undecided', 'kube-apiserver-client', parts);
  await make('denied', 'kube-apiserver-client', parts);
  await decide('denied', 'Denied');
  await make('foreign', '../', parts, { signerName: 'example.com/mine' });
  await decide('foreign', 'Approved');
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const name of ['undecided', 'denied', 'foreign']) {
    const { body } = await client.get(`${requests}/${name}`);
    expect([certificateOf(body), has('Failed')(body)]).toEqual(['', false]);
  }
});

it('an approved request that violates the rules of its signer gets the condition Failed', async () => {
  const nodes: RequestParts = { subject: [['O', 'system:nodes'], ['CN', 'joe']] }; // prettier-ignore
  await make('unfit', 'kubelet-serving', nodes);
  await decide('unfit', 'Approved');
  expect(await signed('unfit')).toBe('');
  const { body } = await client.get(`${requests}/unfit`);
  expect(conditionsOf(body)[1]).toMatchObject({
    type: 'Failed',
    reason: 'SignerValidationFailure',
    message: 'DNS or IP subjectAltName is required',
  });
});

it("a kubelet's request is approved automatically if its user may create it, and others are not", async () => {
  const subject = (name: string): RequestParts => ({ subject: [['O', 'system:nodes'], ['CN', `system:node:${name}`]] }); // prettier-ignore
  await make('mine', 'kube-apiserver-client-kubelet', subject('n'));
  const found = await until(client, requests, 'mine', has('Approved'));
  expect(conditionsOf(found)[0]).toMatchObject({
    reason: 'AutoApproved',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  });
  expect(await signed('mine')).toContain('BEGIN CERTIFICATE');

  const impersonate = { 'impersonate-user': 'guest', 'impersonate-group': 'system:authenticated' };
  await client.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'requester' },
    rules: [{ apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] }],
  });
  await client.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'requester' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'requester' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'guest' }],
  });
  const spec = {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    request: requestText(subject('m')),
    usages: clientUsages,
  };
  const { code } = await client.request('POST', requests, {
    body: { metadata: { name: 'guest' }, spec },
    headers: impersonate,
  });
  expect(code).toBe(201);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(conditionsOf((await client.get(`${requests}/guest`)).body)).toEqual([]);
});
