import { generateKeyPairSync } from 'node:crypto';
import { tokenObject } from '../../../test/harness/token-object.js';
import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Clock } from '../../std/clock.js';
import type { Credentials } from '../authenticator.js';
import { readJwt } from '../jwt.js';
import { SecretTokens } from '../secret-tokens.js';
import { makeTokenKeys } from '../token-keys.js';
import { TokenUses } from '../token-uses.js';
import { bootstrapTokenAuthenticator } from './bootstrap-token.authenticator.js';
import { secretTokenAuthenticator } from './secret-token.authenticator.js';

const nothing: Credentials = {
  bearerToken: undefined,
  certificateUser: undefined,
  proxyName: undefined,
  rawHeaders: [],
  path: '/',
};
const nowMs = Date.parse('2026-01-01T00:00:00Z');
const clock = { now: () => nowMs } as Clock;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const newPem = () =>
  String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
const object = (name: string, rest: object = {}, metadata: object = {}): KubeObject => ({
  kind: 'Any',
  apiVersion: 'v1',
  metadata: { name, uid: 'u1', ...metadata },
  ...rest,
});

function tokensOf(pem: string) {
  const keys = makeTokenKeys({ name: 'sa.key', pem });
  return new SecretTokens({
    issuer: 'kubernetes/serviceaccount',
    labelDomain: 'kubernetes.io',
    keys: async () => keys,
  });
}

const ownPem = newPem();
const claims = { namespace: 'shop', account: { name: 'sa', uid: 'u1' }, secretName: 's' };

function world(
  cached: Map<string, KubeObject>,
  stored = new Map<string, KubeObject>(),
  looksUp = true,
  uses = new TokenUses(),
) {
  const authenticator = secretTokenAuthenticator({
    tokens: tokensOf(ownPem),
    objects: {
      cached: (resource, namespace, name) => tokenObject(cached.get(`${resource}/${namespace}/${name}`)),
      live: async (resource, namespace, name) => tokenObject(stored.get(`${resource}/${namespace}/${name}`)),
    },
    audiences: ['us'],
    labelDomain: 'kubernetes.io',
    authenticationGroup: 'authentication.k8s.io',
    clock,
    looksUp,
    uses,
  });
  return (bearerToken: string, audiences?: string[]) =>
    authenticator.authenticate({ ...nothing, bearerToken, ...(audiences && { audiences }) });
}

const holding = (token: string, metadata: object = {}, account: KubeObject | undefined = object('sa')) =>
  new Map([
    ['secrets/shop/s', object('s', { data: { token: base64(token) } }, metadata)],
    ...(account ? ([['serviceaccounts/shop/sa', account]] as const) : []),
  ]);

const invalidated = { rejected: 'service account token has been invalidated' };

it('a token in a Secret has the claims of its ServiceAccount, and no expiry', async () => {
  expect(readJwt(await tokensOf(ownPem).issue(claims))!.payload).toEqual({
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': 'shop',
    'kubernetes.io/serviceaccount/secret.name': 's',
    'kubernetes.io/serviceaccount/service-account.name': 'sa',
    'kubernetes.io/serviceaccount/service-account.uid': 'u1',
    sub: 'system:serviceaccount:shop:sa',
  });
});

it('is valid while its Secret contains it', async () => {
  const token = await tokensOf(ownPem).issue(claims);
  const objects = holding(token);
  const ask = world(objects);
  const result = (await ask(token)) as { isStillValid: () => boolean };
  expect(result).toMatchObject({
    audiences: ['us'],
    user: {
      name: 'system:serviceaccount:shop:sa',
      uid: 'u1',
      groups: expect.arrayContaining(['system:authenticated']) as unknown,
    },
  });
  expect(await world(new Map(), objects)(token)).toMatchObject({ audiences: ['us'] });
  objects.delete('secrets/shop/s');
  expect(result.isStillValid()).toBe(false);
});

it('parses each state of its Secret once, however often it is used', async () => {
  const token = await tokensOf(ownPem).issue(claims);
  const objects = holding(token);
  const result = (await world(objects)(token)) as { isStillValid: () => boolean };
  expect([result.isStillValid(), result.isStillValid()]).toEqual([true, true]);
  // The ServiceAccount is parsed once for the origin of the token.
  expect([...objects.values()].map((one) => tokenObject(one).parses)).toEqual([1, 1]);
  objects.set('secrets/shop/s', holding('another').get('secrets/shop/s')!);
  expect(result.isStillValid()).toBe(false);
});

it.each<[string, (token: string) => Map<string, KubeObject>]>([
  ['does not exist', () => new Map()],
  ['contains another token', () => holding('another')],
  ['was deleted more than a minute ago', (token) => holding(token, { deletionTimestamp: '2025-12-31T00:00:00Z' })],
  ['belongs to a ServiceAccount with another uid', (token) => holding(token, {}, object('sa', {}, { uid: 'u0' }))],
])('a token whose Secret %s is invalid', async (_what, objects) => {
  const token = await tokensOf(ownPem).issue(claims);
  expect(await world(objects(token))(token)).toEqual(invalidated);
  expect(await world(objects(token), undefined, false)(token)).toMatchObject({ audiences: ['us'] });
});

it.each<[string, object, object, object]>([
  [
    'was created by a user',
    {},
    { annotations: { 'authentication.k8s.io/legacy-token-manual-secret': 's' } },
    { inManualSecrets: 1, inGeneratedSecrets: 0 },
  ],
  [
    'was generated for the ServiceAccount',
    { secrets: [{ name: 's' }] },
    {
      annotations: { 'authentication.k8s.io/legacy-token-autogenerated-secret': 's' },
      warnings: [expect.stringContaining('Use tokens from the TokenRequest API') as unknown],
    },
    { inManualSecrets: 0, inGeneratedSecrets: 1 },
  ],
])('a token whose Secret %s is counted and annotated', async (_what, account, notes, counts) => {
  const token = await tokensOf(ownPem).issue(claims);
  const uses = new TokenUses();
  const result = await world(holding(token, {}, object('sa', account)), undefined, true, uses)(token);
  expect(result).toMatchObject({ notes });
  expect(result).toMatchObject({
    notes: { annotations: { 'authentication.k8s.io/legacy-token': 'system:serviceaccount:shop:sa' } },
  });
  expect(uses).toMatchObject({ ...counts, inSecrets: 1, invalidated: 0 });
});

it('a token whose Secret is labeled as invalid is counted', async () => {
  const token = await tokensOf(ownPem).issue(claims);
  const uses = new TokenUses();
  const labeled = holding(token, { labels: { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' } });
  expect(await world(labeled, labeled, true, uses)(token)).toEqual({
    rejected:
      'the Secret shop/s of the token has the label kubernetes.io/legacy-token-invalid-since: ' +
      'use a token of the TokenRequest API or of another Secret, or remove the label',
  });
  expect(uses).toMatchObject({ inSecrets: 1, invalidated: 1, inManualSecrets: 0 });
  expect(await world(labeled, undefined, false)(token)).toMatchObject({ audiences: ['us'] });
});

it('a token whose ServiceAccount is gone does not count as labeled', async () => {
  const token = await tokensOf(ownPem).issue(claims);
  const uses = new TokenUses();
  const labels = { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' };
  const objects = new Map([...holding(token, { labels })].filter(([key]) => key.startsWith('secrets')));
  expect(await world(objects, objects, true, uses)(token)).toEqual(invalidated);
  expect(uses).toMatchObject({ inSecrets: 1, invalidated: 0 });
});

it.each([
  ['without the label', {}, 1],
  ['labeled on an earlier day', { 'kubernetes.io/legacy-token-last-used': '2025-12-31' }, 1],
  ['labeled today', { 'kubernetes.io/legacy-token-last-used': '2026-01-01' }, 0],
  ['labeled by a server on which it is tomorrow', { 'kubernetes.io/legacy-token-last-used': '2026-01-02' }, 0],
])('the use of a Secret %s is announced if it is not recorded', async (_what, labels, times) => {
  const token = await tokensOf(ownPem).issue(claims);
  const uses = new TokenUses();
  const seen: string[] = [];
  const end = uses.onUnrecordedUse(({ attributes }) => seen.push(attributes.name));
  const ask = world(holding(token, { labels }), undefined, true, uses);
  await ask(token);
  expect(seen).toEqual(Array(times).fill('s'));
  end();
  await ask(token);
  expect(seen).toHaveLength(times);
});

it('a token of another key or for other audiences is rejected, and other texts are ignored', async () => {
  const token = await tokensOf(ownPem).issue(claims);
  const ask = world(holding(token));
  expect(await ask('nope')).toBeUndefined();
  expect(await ask(await tokensOf(newPem()).issue(claims))).toBe('rejected');
  expect(await ask(token, ['others'])).toBe('rejected');
});

const bootstrap = (data: Record<string, string> = {}, rest: object = {}) => {
  const all: Record<string, string> = {
    'token-id': 'abcde1',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    ...data,
  };
  const encoded = Object.fromEntries(Object.entries(all).map(([key, value]) => [key, base64(value)]));
  return object('bootstrap-token-abcde1', { type: 'bootstrap.kubernetes.io/token', data: encoded, ...rest });
};
const join = (secret: KubeObject | undefined, bearerToken: string) =>
  bootstrapTokenAuthenticator({
    clock,
    naming: namingProfile('kubernetes'),
    objects: {
      cached: (_resource, namespace, name) =>
        `${namespace}/${name}` === 'kube-system/bootstrap-token-abcde1' ? tokenObject(secret) : undefined,
    },
  }).authenticate({ ...nothing, bearerToken });
const good = 'abcde1.0123456789abcdef';

it('a bootstrap token authenticates as system:bootstrap:ID with its extra groups', () =>
  expect(join(bootstrap({ 'auth-extra-groups': 'system:bootstrappers:x' }), good)).toMatchObject({
    user: {
      name: 'system:bootstrap:abcde1',
      uid: '',
      groups: ['system:bootstrappers', 'system:bootstrappers:x', 'system:authenticated'],
      extra: {},
    },
  }));

it.each<[string, KubeObject | undefined, string, unknown]>([
  ['of another format', bootstrap(), 'nope', undefined],
  ['of an unknown id', bootstrap(), 'zzzzzz.0123456789abcdef', undefined],
  ['with another secret', bootstrap(), 'abcde1.0123456789abcdee', 'rejected'],
  ['that has expired', bootstrap({ expiration: '2025-12-31T23:59:59Z' }), good, 'rejected'],
  ['with an expiration that cannot be parsed', bootstrap({ expiration: 'soon' }), good, 'rejected'],
  ['that is only for signing', bootstrap({ 'usage-bootstrap-authentication': 'false' }), good, 'rejected'],
  [
    'with a group that bootstrap tokens must not have',
    bootstrap({ 'auth-extra-groups': 'system:masters' }),
    good,
    'rejected',
  ],
  ['in a Secret of another type', bootstrap({}, { type: 'Opaque' }), good, 'rejected'],
  [
    'in a Secret that is being deleted',
    bootstrap({}, { metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    good,
    'rejected',
  ],
])('a bootstrap token %s does not authenticate', (_what, secret, token, want) =>
  expect(join(secret, token)).toBe(want),
);

it('a cached bootstrap token parses each state of its Secret once, and ends with a change, its expiration or its Secret', () => {
  let now = nowMs;
  let secret: KubeObject | undefined = bootstrap({ expiration: '2026-01-01T01:00:00Z' });
  const { isStillValid } = bootstrapTokenAuthenticator({
    clock: { now: () => now } as Clock,
    naming: namingProfile('kubernetes'),
    objects: { cached: () => (secret ? tokenObject(secret) : undefined) },
  }).authenticate({ ...nothing, bearerToken: good }) as { isStillValid: () => boolean };
  expect([isStillValid(), isStillValid(), isStillValid()]).toEqual([true, true, true]);
  expect(tokenObject(secret).parses).toBe(1);
  now += 3_600_000;
  expect(isStillValid()).toBe(false);
  secret = bootstrap();
  expect([isStillValid(), isStillValid()]).toEqual([true, true]);
  expect(tokenObject(secret).parses).toBe(1);
  secret = bootstrap({ 'token-secret': 'fedcba9876543210' });
  expect(isStillValid()).toBe(false);
  secret = undefined;
  expect(isStillValid()).toBe(false);
});
