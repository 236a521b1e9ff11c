import { createHash, timingSafeEqual } from 'node:crypto';
import { defineAuthenticator, type AuthenticatorDefinition, type UserInfo } from '../../src/index.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const user = (name: string): UserInfo => ({ name, uid: '', groups: ['system:masters'], extra: {} });
const digest = (text: string) => createHash('sha256').update(text).digest();
const secret = digest('open sesame');

/** Adds an authenticator to a server, as ARCHITECTURE says for programs that embed it: a header with a shared secret. */
const sharedSecret = defineAuthenticator({
  name: 'shared-secret',
  make: () => ({
    reads: 'request',
    authenticate({ rawHeaders }) {
      const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-shared-secret');
      if (at < 0) return undefined;
      return timingSafeEqual(digest(rawHeaders[at + 1]!), secret) ? { user: user('ali') } : 'rejected';
    },
  }),
});

let asked = 0;
const hexToken = defineAuthenticator({
  name: 'hex-token',
  make: () => ({
    reads: 'bearer token',
    authenticate({ bearerToken, rawHeaders }) {
      asked++;
      if (rawHeaders.length > 0) throw new Error('an authenticator of tokens gets no headers');
      return bearerToken === 'c0ffee' ? { user: user('hex') } : undefined;
    },
  }),
});

const running: TestServer[] = [];
async function start(...authenticators: AuthenticatorDefinition[]) {
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { authenticators });
  running.push(server);
  return server;
}
beforeEach(() => void (asked = 0));
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

/** Returns the user of a request with these headers, or the code of its rejection. */
async function userWith(server: TestServer, headers: Record<string, string>): Promise<unknown> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
  const { code, body } = await server.client().request('POST', path, { body: review, headers });
  const { username, groups } = (body.status as { userInfo?: { username: string; groups: string[] } }).userInfo ?? {};
  return code === 201 ? [username, groups] : code;
}

const ali = ['ali', ['system:masters', 'system:authenticated']];
const hex = ['hex', ['system:masters', 'system:authenticated']];

it.each<[string, Record<string, string>, unknown]>([
  ['the right secret', { 'x-shared-secret': 'open sesame' }, ali],
  ['the right secret and an unknown token', { 'x-shared-secret': 'open sesame', authorization: 'Bearer x' }, ali],
  ['a wrong secret, although anonymous access is enabled', { 'x-shared-secret': 'x' }, 401],
  ['neither secret nor token', {}, 403],
])('the user of a request with %s', async (_what, headers, want) => {
  expect(await userWith(await start(sharedSecret), headers)).toEqual(want);
});

it('a result of a request is not remembered for its token', async () => {
  const server = await start(sharedSecret);
  const authorization = 'Bearer unknown';
  expect(await userWith(server, { authorization, 'x-shared-secret': 'open sesame' })).toEqual(ali);
  expect(await userWith(server, { authorization })).toBe(401);
});

it('a result of a token is remembered, and is the same beside credentials of another authenticator', async () => {
  const server = await start(sharedSecret, hexToken);
  const authorization = 'Bearer c0ffee';
  expect(await userWith(server, { authorization, 'x-shared-secret': 'open sesame' })).toEqual(hex);
  expect(await userWith(server, { authorization })).toEqual(hex);
  expect(asked).toBe(1);
});

it('TokenReviews ask the authenticators of tokens only', async () => {
  const { admin } = await start(sharedSecret, hexToken);
  const review = async (token: string) => {
    const { body } = await admin.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
    return (body.status as { user?: { username?: string } }).user?.username;
  };
  expect([await review('c0ffee'), await review('open sesame')]).toEqual(['hex', undefined]);
});

it('an authenticator that make() leaves out is not asked', async () => {
  const server = await start(defineAuthenticator({ name: 'off', make: () => undefined }));
  expect(await userWith(server, {})).toBe(403);
});

it('a name that the server has already is refused', async () => {
  const twin = defineAuthenticator({ ...sharedSecret, name: 'token-file' });
  await expect(start(twin)).rejects.toThrow('authenticator token-file is defined twice');
});
