import { generateKeyPairSync } from 'node:crypto';
import { tokenObject } from '../../test/harness/token-object.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Clock } from '../std/clock.js';
import { reviewToken, type Authenticator, type Credentials } from './authenticator.js';
import { serviceAccountTokenAuthenticator } from './authenticators/service-account-token.authenticator.js';
import { readJwt, signJwt } from './jwt.js';
import { ServiceAccountTokens, type TokenSubject } from './service-account-tokens.js';
import { makeTokenKeys } from './token-keys.js';
import { TokenUses } from './token-uses.js';

const nothing: Credentials = {
  bearerToken: undefined,
  certificateUser: undefined,
  proxyName: undefined,
  rawHeaders: [],
  path: '/',
};
const pem = (key: { export(options: { type: 'pkcs8'; format: 'pem' }): string | Buffer }) =>
  String(key.export({ type: 'pkcs8', format: 'pem' }));
const rsaPem = pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
const curvePem = (namedCurve: string) => pem(generateKeyPairSync('ec', { namedCurve }).privateKey);
const ecPem = curvePem('P-256');

const issuer = 'https://kubernetes.default.svc';
const startMs = Date.parse('2026-01-01T00:00:00Z');
const subject: TokenSubject = { namespace: 'shop', account: { name: 'sa', uid: 'u1' } };
const object = (name: string, uid: string, metadata: object = {}): KubeObject => ({
  kind: 'Any',
  apiVersion: 'v1',
  metadata: { name, uid, ...metadata },
});

/** Objects, a clock and tokens of one server. */
function world({ signing = ecPem, verifying = [] as string[], issuers = [issuer], looksUp = true } = {}) {
  let nowMs = startMs;
  const clock = { now: () => nowMs } as Clock;
  const objects = new Map<string, KubeObject>([['serviceaccounts/shop/sa', object('sa', 'u1')]]);
  const stored = new Map<string, KubeObject>();
  const keys = makeTokenKeys(
    { name: 'sa.key', pem: signing },
    verifying.map((pem) => ({ name: 'sa.pub', pem })),
  );
  const uses = new TokenUses();
  const tokens = new ServiceAccountTokens({ issuers, privateClaim: 'kubernetes.io', keys: async () => keys });
  const authenticator = serviceAccountTokenAuthenticator({
    tokens,
    clock,
    looksUp,
    audiences: [issuer],
    labelDomain: 'kubernetes.io',
    authenticationGroup: 'authentication.k8s.io',
    uses,
    objects: {
      cached: (resource, namespace, name) => tokenObject(objects.get(`${resource}/${namespace}/${name}`)),
      live: async (resource, namespace, name) => tokenObject(stored.get(`${resource}/${namespace}/${name}`)),
    },
  });
  const issue = (to: TokenSubject = subject, audiences = [issuer], seconds = 3600, warnAfterSeconds?: number) =>
    tokens.issue(to, { id: 'id-1', audiences, nowSeconds: nowMs / 1000, seconds, warnAfterSeconds });
  const ask = (token: string, audiences?: string[]) =>
    authenticator.authenticate({ ...nothing, bearerToken: token, ...(audiences && { audiences }) });
  return { tokens, authenticator, objects, stored, uses, issue, ask, advance: (ms: number) => (nowMs += ms) };
}

const accepted = { user: expect.objectContaining({ name: 'system:serviceaccount:shop:sa' }) as unknown };
const gone = { rejected: 'service account token has been invalidated' };

it.each([
  ['RS256', rsaPem],
  ['ES256', ecPem],
  ['ES384', curvePem('P-384')],
  ['ES512', curvePem('P-521')],
])('signs with %s, and verifies the signature', async (algorithm, signing) => {
  const { issue, ask } = world({ signing });
  const token = await issue();
  expect(readJwt(token)!.header).toEqual({ alg: algorithm, kid: expect.any(String) as string });
  expect(await ask(token)).toMatchObject(accepted);
});

it('contains audiences, issuer, expiry and bound objects', async () => {
  const pod = { name: 'p', uid: 'u2' };
  const token = await world().issue({ ...subject, pod, node: { name: 'n' } }, ['x', 'y']);
  const now = startMs / 1000;
  expect(readJwt(token)!.payload).toEqual({
    aud: ['x', 'y'],
    exp: now + 3600,
    iat: now,
    iss: issuer,
    jti: 'id-1',
    'kubernetes.io': { namespace: 'shop', pod, node: { name: 'n' }, serviceaccount: { name: 'sa', uid: 'u1' } },
    nbf: now,
    sub: 'system:serviceaccount:shop:sa',
  });
});

it('authenticates the ServiceAccount, with Pod and Node of the token as extra', async () => {
  const { issue, ask, objects } = world();
  objects.set('pods/shop/p', object('p', 'u2'));
  expect(
    await ask(await issue({ ...subject, pod: { name: 'p', uid: 'u2' }, node: { name: 'n', uid: 'u3' } })),
  ).toMatchObject({
    audiences: [issuer],
    user: {
      name: 'system:serviceaccount:shop:sa',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': ['JTI=id-1'],
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['u2'],
        'authentication.kubernetes.io/node-name': ['n'],
        'authentication.kubernetes.io/node-uid': ['u3'],
      },
    },
  });
});

it('ignores other texts, and tokens of other issuers', async () => {
  const { ask } = world();
  for (const text of ['nope', 'a.b.c', await world({ issuers: ['https://other'] }).issue()]) {
    expect(await ask(text)).toBeUndefined();
  }
});

it('rejects tokens of another key, another algorithm, and changed tokens', async () => {
  const { issue, ask } = world();
  const [header, payload, signature] = (await issue()).split('.') as [string, string, string];
  const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  expect(await ask(await world({ signing: rsaPem }).issue())).toBe('rejected');
  expect(await ask(`${segment({ alg: 'none' })}.${payload}.${signature}`)).toBe('rejected');
  expect(await ask(`${segment({ alg: 'HS256' })}.${payload}.${signature}`)).toBe('rejected');
  const other = { ...readJwt(`${header}.${payload}.${signature}`)!.payload, sub: 'system:serviceaccount:shop:root' };
  expect(await ask(`${header}.${segment(other)}.${signature}`)).toBe('rejected');
});

it('accepts additional keys and issuers', async () => {
  const old = await world({ signing: rsaPem, issuers: ['https://old'] }).issue();
  const { ask } = world({ verifying: [rsaPem], issuers: [issuer, 'https://old'] });
  expect(await ask(old)).toMatchObject(accepted);
});

it('rejects a token for other audiences, and returns the matching ones', async () => {
  const { issue, ask } = world();
  const token = await issue(subject, ['x', 'y']);
  expect(await ask(token)).toEqual({
    rejected: `token audiences ["x" "y"] is invalid for the target audiences ["${issuer}"]`,
  });
  expect(await ask(token, ['y', 'z'])).toMatchObject({ ...accepted, audiences: ['y'] });
});

it('expires, also if the result is cached', async () => {
  const { issue, ask, advance } = world();
  const token = await issue();
  const result = (await ask(token)) as { isStillValid: () => boolean };
  expect(result.isStillValid()).toBe(true);
  // Clocks of servers may differ by a minute.
  advance(3_660_000);
  expect(result.isStillValid()).toBe(true);
  advance(1000);
  expect(result.isStillValid()).toBe(false);
  expect(await ask(token)).toEqual({ rejected: 'service account token has expired' });
  advance(-3_661_000 - 60_000);
  expect(await ask(token)).toMatchObject(accepted);
  advance(-1000);
  expect(await ask(token)).toEqual({ rejected: 'service account token is not valid yet' });
});

it('a token issued in the future is rejected, also if it is valid already', async () => {
  const { ask } = world();
  const keys = makeTokenKeys({ name: 'sa.key', pem: ecPem });
  const now = startMs / 1000;
  const payload = (iat: number) => ({
    ...{ iss: issuer, aud: [issuer], iat, nbf: now, exp: now + 3600, sub: 'system:serviceaccount:shop:sa' },
    'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'sa', uid: 'u1' } },
  });
  expect(await ask(await signJwt(payload(now + 60), keys))).toMatchObject(accepted);
  expect(await ask(await signJwt(payload(now + 61), keys))).toEqual({
    rejected: 'service account token is issued in the future',
  });
});

it('a token of a Pod is counted as valid, and as stale with an audit annotation once it should be renewed', async () => {
  const { issue, ask, advance, uses } = world();
  const token = await issue(subject, [issuer], 10_000, 3607);
  expect(await ask(token)).not.toHaveProperty('notes');
  advance(3_607_000);
  expect(await ask(token)).not.toHaveProperty('notes');
  advance(5_000);
  expect(await ask(token)).toMatchObject({
    notes: {
      annotations: {
        'authentication.k8s.io/stale-token':
          'subject: system:serviceaccount:shop:sa, seconds after warning threshold: 5',
      },
    },
  });
  expect(uses).toMatchObject({ valid: 2, stale: 1 });
  await ask(await issue());
  expect(uses).toMatchObject({ valid: 2, stale: 1 });
});

const minuteAgo = new Date(startMs - 61_000).toISOString();
const justNow = new Date(startMs - 1000).toISOString();
it.each<[string, KubeObject | undefined, object]>([
  ['exists', object('p', 'u2'), accepted],
  ['does not exist', undefined, gone],
  ['has another uid', object('p', 'u9'), gone],
  ['was deleted less than a minute ago', object('p', 'u2', { deletionTimestamp: justNow }), accepted],
  ['was deleted more than a minute ago', object('p', 'u2', { deletionTimestamp: minuteAgo }), gone],
])('validity of a token of a Pod that %s', async (_what, pod, want) => {
  const { issue, ask, objects } = world();
  const token = await issue({ ...subject, pod: { name: 'p', uid: 'u2' } });
  if (pod) objects.set('pods/shop/p', pod);
  expect(await ask(token)).toMatchObject(want);
});

it('objects that are not being deleted are not parsed', async () => {
  const { issue, ask, objects } = world();
  objects.set('pods/shop/p', object('p', 'u2'));
  const result = (await ask(await issue({ ...subject, pod: { name: 'p', uid: 'u2' } }))) as {
    isStillValid: () => boolean;
  };
  expect(result.isStillValid()).toBe(true);
  expect([...objects.values()].map((one) => tokenObject(one).parses)).toEqual([0, 0]);
});

it('becomes invalid with its ServiceAccount, and is valid if only the store has it yet', async () => {
  const { issue, ask, objects, stored } = world();
  const token = await issue();
  const result = (await ask(token)) as { isStillValid: () => boolean };
  objects.clear();
  expect(result.isStillValid()).toBe(false);
  expect(await ask(token)).toEqual(gone);
  stored.set('serviceaccounts/shop/sa', object('sa', 'u1'));
  expect(await ask(token)).toMatchObject(accepted);
});

it('--service-account-lookup=false accepts tokens of deleted objects', async () => {
  const { issue, ask, objects } = world({ looksUp: false });
  const token = await issue();
  objects.clear();
  expect(await ask(token)).toMatchObject(accepted);
});

it('a TokenReview returns the reasons of a rejection', async () => {
  const { issue, authenticator } = world();
  const anonymous: Authenticator = {
    reads: 'request',
    isLastResort: true,
    authenticate: () => ({ user: { name: 'nobody', uid: '', groups: [], extra: {} } }),
  };
  const review = async (token: string, requested: string[] = []) =>
    reviewToken([authenticator, anonymous], token, { requested, own: [issuer] });
  expect(await review(await issue())).toMatchObject({ ...accepted, audiences: [issuer] });
  expect(await review('nope')).toEqual({ problems: ['invalid bearer token'] });
  expect(await review(await issue(), ['z'])).toEqual({
    problems: ['invalid bearer token', `token audiences ["${issuer}"] is invalid for the target audiences ["z"]`],
  });
});

it('a token without audiences is valid for this server', async () => {
  const file: Authenticator = {
    reads: 'bearer token',
    authenticate: () => ({ user: { name: 'u', uid: '', groups: [], extra: {} } }),
  };
  const review = (requested: string[]) => reviewToken([file], 't', { requested, own: [issuer] });
  expect(await review([])).toMatchObject({ user: { name: 'u' }, audiences: [issuer] });
  expect(await review([issuer, 'z'])).toMatchObject({ audiences: [issuer] });
  expect(await review(['z'])).toEqual({ problems: ['invalid bearer token'] });
});
