import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJwt } from '../../src/auth/jwt.js';
import { keyPem, makeKey } from '../../src/certificates/authority.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { tokenSecret } from '../harness/bootstrap-tokens.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

/** Flags of service account tokens, on whole servers. */
const core = '/api/v1/namespaces/default';
const directory = mkdtempSync(join(tmpdir(), 'keelson-account-flags-'));
const signingKeyFile = join(directory, 'sa.key');
writeFileSync(signingKeyFile, keyPem(makeKey()), { mode: 0o600 });

const running: TestServer[] = [];
let store: MemoryStore;
beforeEach(() => (store = new MemoryStore()));
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await store.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type ServiceAccountFlags = NonNullable<ConfigOverrides['authentication']>['serviceAccount'];

async function start(serviceAccount: ServiceAccountFlags, more: ConfigOverrides['authentication'] = {}) {
  const config = {
    authentication: { ...more, serviceAccount: { signingKeyFile, ...serviceAccount } },
    reconcilers: { leaderElection: 'false' as const },
  };
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, store });
  running.push(server);
  await until(server.admin, `${core}/serviceaccounts`, 'default', (found) => found !== undefined);
  return server;
}

async function request({ admin }: TestServer, spec: object = {}) {
  const { code, body } = await admin.post(`${core}/serviceaccounts/default/token`, { spec });
  expect([code, body.message]).toEqual([201, undefined]);
  return body as { status: { token: string; expirationTimestamp: string } };
}
const tokenOf = async (server: TestServer, spec?: object) => (await request(server, spec)).status.token;
const claims = (token: string) => readJwt(token)!.payload;
const secondsOf = (token: string) => Number(claims(token).exp) - Number(claims(token).iat);
const codeWith = async (server: TestServer, token: string) => (await server.client({ token }).get('/api')).code;

const yearSeconds = 365 * 24 * 3600;
const ofPod = { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } };

it.each<[string, boolean, object, number, number | undefined]>([
  ['a token that the kubelet mounts', true, { ...ofPod, expirationSeconds: 3607 }, yearSeconds, 3607],
  [
    'one with --service-account-extend-token-expiration=false',
    false,
    { ...ofPod, expirationSeconds: 3607 },
    3607,
    undefined,
  ],
  ['a token of another expiration', true, { ...ofPod, expirationSeconds: 3600 }, 3600, undefined],
  ['a token of no Pod', true, { expirationSeconds: 3607 }, 3607, undefined],
  ['a token for another audience', true, { ...ofPod, expirationSeconds: 3607, audiences: ['vault'] }, 3607, undefined],
])('--service-account-extend-token-expiration: %s', async (_what, extendsTokens, spec, seconds, warnAfter) => {
  const server = await start({ extendsTokens, issuers: ['https://first.example.com'] });
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await server.admin.post(`${core}/pods`, pod)).code).toBe(201);
  const { token, expirationTimestamp } = (await request(server, spec)).status;
  expect(secondsOf(token)).toBe(seconds);
  const own = claims(token)['kubernetes.io'] as { warnafter?: number };
  expect(own.warnafter).toBe(warnAfter === undefined ? undefined : Number(claims(token).iat) + warnAfter);
  // Clients renew the token by the expiration that they asked for.
  const told = Date.parse(expirationTimestamp) / 1000 - Number(claims(token).iat);
  expect(Math.abs(told - (warnAfter ?? seconds))).toBeLessThanOrEqual(1);
});

it('--service-account-issuer: the first one issues, tokens of all of them are accepted', async () => {
  const [first, second] = ['https://first.example.com', 'https://second.example.com'];
  const old = await start({ issuers: [first] });
  const both = await start({ issuers: [second, first] });
  const next = await start({ issuers: [second] });
  const [ofFirst, ofSecond] = [await tokenOf(old), await tokenOf(both)];
  expect([claims(ofFirst).iss, claims(ofSecond).iss]).toEqual([first, second]);
  expect([claims(ofFirst).aud, claims(ofSecond).aud]).toEqual([[first], [second, first]]);
  const accepted = async (server: TestServer) => [await codeWith(server, ofFirst), await codeWith(server, ofSecond)];
  expect(await accepted(both)).toEqual([200, 200]);
  expect(await accepted(old)).toEqual([200, 401]);
  expect(await accepted(next)).toEqual([401, 200]);
  const { body } = await both.admin.get('/.well-known/openid-configuration');
  expect(body.issuer).toBe(second);
});

it('rejected credentials of all kinds have the same answer, also of users and tokens that exist', async () => {
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'known-token,ann,1\n');
  const server = await start({}, { tokenAuthFile, bootstrapTokens: true });
  const secret = tokenSecret('abc123', '0123456789abcdef');
  expect((await server.admin.post('/api/v1/namespaces/kube-system/secrets', secret)).code).toBe(201);
  const bootstrap = 'abc123.0123456789abcdef';
  await eventually('the bootstrap token is known', async () => (await codeWith(server, bootstrap)) === 200);
  const token = await tokenOf(server);
  expect(await codeWith(server, token)).toBe(200);
  const [header, payload = '', signature] = token.split('.');
  const decoded = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const withClaims = (more: object) =>
    [header, Buffer.from(JSON.stringify({ ...decoded, ...more })).toString('base64url'), signature].join('.');
  const rejected = {
    'an unknown token': 'nothing',
    'the beginning of a token': 'known-toke',
    'a bootstrap token of an unknown id': 'zzz999.0123456789abcdef',
    'a bootstrap token with another secret': 'abc123.0123456789abcdeg',
    'a service account token with another signature': `${header}.${payload}.${'A'.repeat(signature!.length)}`,
    'a service account token that has expired': withClaims({ exp: 1 }),
    'a service account token of an unknown account': withClaims({ sub: 'system:serviceaccount:default:nobody' }),
    'a service account token of another issuer': withClaims({ iss: 'https://other.example.com' }),
    'a token for another audience': await tokenOf(server, { audiences: ['vault'] }),
  };
  const answers = new Map<string, string[]>();
  for (const [kind, one] of Object.entries(rejected)) {
    const { code, headers, text } = await server.client({ token: one }).get('/api/v1/namespaces');
    const shown = { ...headers, date: '', 'audit-id': '' };
    const answer = JSON.stringify([code, shown, text]);
    answers.set(answer, [...(answers.get(answer) ?? []), kind]);
  }
  expect([...answers.values()]).toEqual([Object.keys(rejected)]);
  expect([...answers.keys()][0]).toContain('"Unauthorized');
});
