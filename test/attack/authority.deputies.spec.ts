import { namingProfile } from '../../src/config/naming-profile.js';
import { podRequestSpec, requestPem } from '../harness/certificate-texts.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { rule, startRbacServer, type RbacUsers } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';

/** Attempts to use controllers and signers as deputies for actions that the user may not perform. */
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const podRequests = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests';

let server: TestServer;
let admin: HttpClient;
let users: RbacUsers;

beforeAll(async () => {
  ({ server, admin, users } = await startRbacServer({
    runtimeConfig: { 'api/all': true },
    admission: { enabledPlugins: ['OwnerReferencesPermissionEnforcement'] },
  }));
});
afterAll(() => server.stop());

const made = (path: string, object: object) => users.create(path, object);

describe('certificate requests', () => {
  const spec = {
    signerName: 'example.com/s',
    usages: ['client auth'],
    request: Buffer.from(requestPem).toString('base64'),
  };
  const approved = { conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: 'y' }] };
  const all = rule('certificates.k8s.io', '*', 'create', 'get', 'update', 'patch');

  it('a user who may write requests cannot approve or sign his own (403)', async () => {
    const user = await users.with(all);
    const created = await user.post(requests, { metadata: { name: 'own' }, spec, status: approved });
    expect([created.code, created.body.status]).toEqual([201, {}]);
    const path = `${requests}/own`;
    const refusal = (what: string) => `user not permitted to ${what} requests with signerName "example.com/s"`;
    // prettier-ignore
    const attempts: [Answer, unknown][] = [
      [await user.put(`${path}/approval`, { ...created.body, status: approved }), expect.stringContaining(refusal('approve'))],
      [await user.patch(`${path}/approval`, { status: approved }), expect.stringContaining(refusal('approve'))],
      [await user.patch(`${path}/status`, { status: { certificate: Buffer.from(requestPem).toString('base64') } }), expect.anything()],
      [await user.patch(`${path}/status`, { status: { conditions: [{ type: 'Failed', status: 'True' }] } }), expect.stringContaining(refusal('sign'))],
      [await user.patch(`${path}/status`, { status: approved }), expect.anything()],
    ];
    for (const [answer, message] of attempts)
      expect([answer.code >= 400, answer.body.message]).toEqual([true, message]);
    await user.patch(path, { status: approved });
    expect((await admin.get(path)).body.status).toEqual({});
  });

  it('signerName is taken from the stored request, and spec is immutable', async () => {
    const user = await users.with(all, {
      ...rule('certificates.k8s.io', 'signers', 'approve'),
      resourceNames: ['example.com/mine'],
    });
    const { body } = await made(requests, { metadata: { name: 'spec' }, spec });
    const mine = { ...spec, signerName: 'example.com/mine', groups: ['system:masters'], username: 'admin' };
    const refused = await user.put(`${requests}/spec/approval`, { ...body, spec: mine, status: approved });
    expect(refused.code).toBe(403);
    await admin.put(`${requests}/spec/approval`, { ...body, status: approved });
    for (const path of [`${requests}/spec`, `${requests}/spec/status`, `${requests}/spec/approval`]) {
      await admin.patch(path, { spec: { ...mine, usages: ['any'] } });
      expect((await admin.get(`${requests}/spec`)).body.spec).toEqual(body.spec);
    }
  });

  it('username is taken from the authenticated user', async () => {
    const user = await users.with(all);
    const claimed = { username: 'admin', uid: '1', groups: ['system:masters'], extra: { a: ['b'] } };
    const { body } = await user.post(requests, { metadata: { name: 'user' }, spec: { ...spec, ...claimed } });
    expect(body.spec).toMatchObject({ username: expect.stringMatching(/^u\d+$/), groups: ['system:authenticated'] });
    expect(body.spec.extra).toBeUndefined();
  });

  it('the status of a PodCertificateRequest requires the verb sign on its signer (403)', async () => {
    await made(podRequests, {
      metadata: { name: 'p' },
      spec: podRequestSpec,
    });
    const status = {
      conditions: [
        { type: 'Denied', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    };
    const signers = (...resourceNames: string[]) => ({
      ...rule('certificates.k8s.io', 'signers', 'sign'),
      resourceNames,
    });
    const refused = await (
      await users.with(all, signers('example.com/other'))
    ).patch(`${podRequests}/p/status`, { status });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      `PodCertificateRequest.certificates.k8s.io "p" is invalid: spec.signerName: Forbidden: User "${users.latest}" is not permitted to "sign" for signer "example.com/s"`,
    ]);
    const signed = await (await users.with(all, signers('example.com/*'))).patch(`${podRequests}/p/status`, { status });
    expect([signed.code, signed.body.message]).toEqual([200, undefined]);
  });
});

describe('the garbage collector as a deputy', () => {
  const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
  const ownedBy = (
    name: string,
    owner: { kind: string; apiVersion?: string; metadata: { name: string; uid: string } },
    more = {},
  ) => ({
    metadata: {
      name,
      ownerReferences: [
        { apiVersion: 'v1', name: owner.metadata.name, uid: owner.metadata.uid, kind: owner.kind, ...more },
      ],
    },
  });
  const victim = async (name: string) => ({
    kind: 'ConfigMap',
    ...(await made(configMaps('other'), { metadata: { name } })).body,
  });

  it('ownerReferences require delete on existing objects, and blockOwnerDeletion requires update on finalizers (403)', async () => {
    const owner = await victim('owner');
    await made(configMaps('other'), { metadata: { name: 'owned' } });
    const writer = await users.with(rule('', 'configmaps', 'update', 'patch', 'create'));
    const { metadata } = ownedBy('owned', owner);
    const refused = await writer.patch(`${configMaps('other')}/owned`, { metadata });
    expect([refused.code, refused.body.message]).toEqual([
      403,
      `configmaps "owned" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`,
    ]);
    const blocked = await writer.post(configMaps('other'), ownedBy('blocks', owner, { blockOwnerDeletion: true }));
    expect([blocked.code, blocked.body.message]).toEqual([
      403,
      `configmaps "blocks" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`,
    ]);
    expect((await writer.post(configMaps('other'), ownedBy('plain', owner))).code).toBe(201);
  });

  it('an owner in another namespace is neither deleted nor blocked nor changed', async () => {
    const owner = await victim('victim');
    const leech = ownedBy('leech', owner, { blockOwnerDeletion: true, controller: true });
    await made(configMaps('default'), leech);
    // The ownerReference matches no object of the namespace, so its object is collected.
    await eventually('leech is gone', async () => (await admin.get(`${configMaps('default')}/leech`)).code === 404);
    expect((await admin.get(`${configMaps('other')}/victim`)).body.metadata).toEqual(owner.metadata);
    const held = { ...leech, metadata: { ...leech.metadata, finalizers: ['a.b/c'] } };
    await made(configMaps('default'), held);
    await admin.delete(`${configMaps('other')}/victim?propagationPolicy=Foreground`);
    await eventually('victim is gone', async () => (await admin.get(`${configMaps('other')}/victim`)).code === 404);
    await admin.patch(`${configMaps('default')}/leech`, { metadata: { finalizers: null } });
  });

  it('a cluster-scoped object with an owner in a namespace stays', async () => {
    const owner = await victim('small');
    await made(`${rbac}/clusterroles`, { ...ownedBy('orphan', owner), rules: [] });
    await made(configMaps('default'), ownedBy('after', owner));
    await eventually('after is gone', async () => (await admin.get(`${configMaps('default')}/after`)).code === 404);
    expect((await admin.get(`${rbac}/clusterroles/orphan`)).code).toBe(200);
    expect((await admin.get(`${configMaps('other')}/small`)).code).toBe(200);
  });
});

it('a token Secret cannot be moved to another service account', async () => {
  const naming = namingProfile('kubernetes');
  const nameOf = naming.label('service-account.name');
  const accounts = '/api/v1/namespaces/other/serviceaccounts';
  for (const name of ['weak', 'strong']) await made(accounts, { metadata: { name } });
  const path = '/api/v1/namespaces/other/secrets';
  const type = naming.label('service-account-token');
  await made(path, { metadata: { name: 't', annotations: { [nameOf]: 'weak' } }, type });
  await eventually('the Secret has a token', async () => (await admin.get(`${path}/t`)).body.data?.token !== undefined);
  const token = Buffer.from((await admin.get(`${path}/t`)).body.data.token, 'base64').toString();
  const asToken = () => server.client({ token }).post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect((await asToken()).body.status.userInfo.username).toBe('system:serviceaccount:other:weak');
  await admin.patch(`${path}/t`, { metadata: { annotations: { [nameOf]: 'strong' } } });
  await eventually('t is gone', async () => (await admin.get(`${path}/t`)).code === 404);
  expect((await asToken()).code).toBe(401);
});
