import { HttpClient } from '../../../test/harness/http-client.js';
import { readJwt } from '../../auth/jwt.js';
import { startKeelson, type Keelson } from '../../testing.js';

let keelson: Keelson;
let admin: HttpClient;
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pods = '/api/v1/namespaces/default/pods';
const issuer = 'https://kubernetes.default.svc';
const audiences = [issuer, 'https://other.example.com'];

beforeAll(async () => {
  const serviceAccount = { tokenLifeMsMax: 7_200_000, issuers: [issuer] };
  keelson = await startKeelson({
    config: { authentication: { serviceAccount, apiAudiences: audiences } },
  });
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  await admin.post(accounts, { metadata: { name: 'sa' } });
  const containers = [{ name: 'c', image: 'i' }];
  await admin.post(pods, { metadata: { name: 'p' }, spec: { serviceAccountName: 'sa', containers } });
  await admin.post(pods, { metadata: { name: 'other' }, spec: { containers } });
});
afterAll(async () => {
  admin.close();
  await keelson.stop();
});

const request = (spec: object, metadata?: object) =>
  admin.post(`${accounts}/sa/token`, { ...(metadata && { metadata }), spec });
const podReference = (rest: object = {}) => ({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', ...rest } });

it('a request without a spec gets a token for this server that expires in an hour', async () => {
  const { code, body } = await admin.post(`${accounts}/sa/token`, {});
  expect([code, body]).toMatchObject([
    201,
    {
      kind: 'TokenRequest',
      metadata: { name: 'sa', namespace: 'default', uid: expect.any(String) as string },
      spec: { audiences, expirationSeconds: 3600, boundObjectRef: null },
    },
  ]);
  const { payload } = readJwt(body.status.token as string)!;
  expect(payload).toMatchObject({ aud: audiences, sub: 'system:serviceaccount:default:sa' });
  expect((payload['exp'] as number) * 1000 - Date.parse(body.status.expirationTimestamp as string)).toBe(0);
});

it.each<[string, object, number, string]>([
  ['that expires too soon', { expirationSeconds: 599 }, 422, 'may not specify a duration less than 10 minutes'],
  [
    'that expires too late',
    { expirationSeconds: 2 ** 32 + 1 },
    422,
    'may not specify a duration larger than 2^32 seconds',
  ],
  [
    'bound to a ConfigMap',
    podReference({ kind: 'ConfigMap' }),
    400,
    'cannot bind token to object of type /v1, Kind=ConfigMap',
  ],
  ['bound to a Pod that does not exist', podReference({ name: 'none' }), 404, 'pods "none" not found'],
  [
    'bound to a Pod with another UID',
    podReference({ uid: 'x' }),
    409,
    'the UID in the bound object reference (x) does not match',
  ],
  [
    'bound to a Pod of another ServiceAccount',
    podReference({ name: 'other' }),
    400,
    'running with different serviceaccount name',
  ],
])('a token %s is rejected', async (_case, spec, code, message) => {
  const answer = await request(spec);
  expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)]);
});

it('a request with another name, and one for an unknown ServiceAccount (404), are rejected', async () => {
  expect((await request({}, { name: 'other' })).body.message).toContain('must match the service account name');
  expect((await admin.post(`${accounts}/none/token`, {})).code).toBe(404);
});

it('an expiration beyond the maximum is shortened, with a warning', async () => {
  const { body, warnings } = await request({ expirationSeconds: 10_000 });
  expect(body.spec.expirationSeconds).toBe(7200);
  expect(warnings).toEqual(['requested expiration of 10000 seconds shortened to 7200 seconds']);
});

it.each<[string, object]>([
  ['all audiences of the server', {}],
  ['one of the audiences of the server', { audiences: [issuer] }],
])('a token that the kubelet requests for a Pod and %s is valid for a year', async (_which, more) => {
  const { body } = await request({ ...podReference(), expirationSeconds: 3607, ...more });
  const { payload } = readJwt(body.status.token as string)!;
  const issuedAt = payload['iat'] as number;
  expect(payload).toMatchObject({ exp: issuedAt + 365 * 24 * 3600, 'kubernetes.io': { warnafter: issuedAt + 3607 } });
  expect(Date.parse(body.status.expirationTimestamp as string) / 1000).toBe(issuedAt + 3607);
});

it.each<[string, object]>([
  ['for another audience', { ...podReference(), expirationSeconds: 3607, audiences: [issuer, 'vault'] }],
  ['of another duration', { ...podReference(), expirationSeconds: 3608 }],
  ['without a Pod', { expirationSeconds: 3607 }],
])('a token %s is not extended', async (_which, spec: { expirationSeconds?: number }) => {
  const { body } = await request(spec);
  const { payload } = readJwt(body.status.token as string)!;
  expect((payload['exp'] as number) - (payload['iat'] as number)).toBe(spec.expirationSeconds);
  expect(payload['kubernetes.io']).not.toHaveProperty('warnafter');
});

it('the uid of a TokenRequest is that of its ServiceAccount, and another one is a conflict', async () => {
  const { uid } = (await admin.get(`${accounts}/sa`)).body.metadata as { uid: string };
  expect((await request({})).body.metadata.uid).toBe(uid);
  expect((await request({}, { uid })).body.metadata.uid).toBe(uid);
  expect((await request({}, { uid: 'x' })).body).toMatchObject({
    code: 409,
    message: `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "sa": the UID in the token request (x) does not match the UID of the service account (${uid})`,
  });
});

it('the error of another uid quotes its first 65,536 characters', async () => {
  const { code, body } = await request({}, { uid: 'x'.repeat(1_000_000) });
  expect(code).toBe(409);
  expect(body.message).toContain('(xxx');
  expect(body.message).toContain('x… (shortened, 1000000 characters)');
  expect(body.message.length).toBeLessThan(70_000);
});

it('a token becomes invalid when its Pod is deleted', async () => {
  const { body } = await request(podReference());
  const bearer = new HttpClient({ url: keelson.url, ca: keelson.ca, token: body.status.token as string });
  const whoAmI = async () => (await bearer.get('/api/v1/namespaces/default/pods')).code;
  // Authenticated, but not authorized.
  expect([await whoAmI(), await whoAmI()]).toEqual([403, 403]);
  await admin.delete(`${pods}/p?gracePeriodSeconds=0`);
  expect(await whoAmI()).toBe(401);
  bearer.close();
});
