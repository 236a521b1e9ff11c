import { createHmac, createPublicKey, randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveFiles } from '../../src/certificates/live-files.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import type { Clock, Timer } from '../../src/std/clock.js';
import { systemClock } from '../../src/std/clock.js';
import type { Logger } from '../../src/std/logger.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient, Protocol } from '../harness/http-client.js';
import { makeIssuerKey, OidcIssuer, publicJwk, signToken, type Algorithm } from '../harness/oidc-issuer.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

type Fields = Readonly<Record<string, unknown>>;

const running: { stop(): Promise<void> }[] = [];
let directory: string;
let file: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'jwt-authentication-'));
});
beforeEach(() => {
  file = join(directory, `${randomBytes(8).toString('hex')}.json`);
});
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});
afterAll(() => rm(directory, { recursive: true }));

async function startIssuer(): Promise<OidcIssuer> {
  const issuer = await OidcIssuer.start();
  running.push({ stop: () => issuer.close() });
  return issuer;
}

const content = (...jwt: Fields[]) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt });
const byName = { username: { claim: 'sub', prefix: 'oidc:' } };
const entryOf = (issuer: OidcIssuer, more: Fields = {}) => ({
  issuer: issuer.settings,
  claimMappings: byName,
  ...more,
});

/** Replaces the file at once, as an update of a mounted ConfigMap does. */
async function write(text: string): Promise<void> {
  await writeFile(`${file}.next`, text);
  await rename(`${file}.next`, file);
}

interface StartOptions {
  readonly authentication?: ConfigOverrides['authentication'];
  readonly clock?: Clock;
  readonly logger?: Logger;
}

async function start(text: string | undefined, { authentication = {}, ...options }: StartOptions = {}) {
  if (text !== undefined) await write(text);
  const config = { authentication: { ...(text !== undefined && { configFile: file }), ...authentication } };
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, ...options });
  running.push(server);
  return server;
}

/** Starts a server and waits until it has the keys of the issuers. */
async function startReady(issuers: readonly OidcIssuer[], text: string, options?: StartOptions): Promise<TestServer> {
  const server = await start(text, options);
  for (const issuer of issuers) {
    await eventually(
      'tokens of the issuer are accepted',
      async () => (await whoAmI(server.client(), issuer.token())).code === 201,
    );
  }
  return server;
}

const whoAmI = (client: HttpClient, token: string): Promise<Answer> =>
  client.post(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    { authorization: `Bearer ${token}` },
  );
const userOf = async (client: HttpClient, token: string): Promise<unknown> =>
  (await whoAmI(client, token)).body?.status?.userInfo;
const review = async (server: TestServer, token: string, audiences?: readonly string[]) =>
  (
    await server.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, ...(audiences && { audiences }) },
    })
  ).body.status as { authenticated?: boolean; error?: string; user?: { username: string }; audiences?: string[] };
/** Reads the file again. Twice, since a poll that is under way may have missed the last change. */
async function reload(server: TestServer): Promise<void> {
  const files = server.keelson.components.configuration as LiveFiles<unknown>;
  await files.refresh();
  await files.refresh();
}
const metric = async (server: TestServer, name: RegExp): Promise<string[]> =>
  (await server.admin.get('/metrics')).text.split('\n').filter((line) => name.test(line));

/** The system's clock, which can be advanced. */
class AdvancedClock implements Clock {
  private aheadMs = 0;
  private readonly timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  now(): number {
    return systemClock.now() + this.aheadMs;
  }
  monotonicMs(): number {
    return systemClock.monotonicMs() + this.aheadMs;
  }
  after(delayMs: number, task: () => void): Timer {
    const timer = {
      dueMs: this.monotonicMs() + delayMs,
      run: () => {
        cancel();
        task();
      },
    };
    const { cancel: cancelTimer } = systemClock.after(delayMs, timer.run);
    const cancel = (): void => {
      this.timers.delete(timer);
      cancelTimer();
    };
    this.timers.add(timer);
    return { cancel };
  }
  advance(ms: number): void {
    this.aheadMs += ms;
    for (const { dueMs, run } of [...this.timers]) if (dueMs <= this.monotonicMs()) run();
  }
}

/** Keeps the messages that a server logs. */
function recordingLogger(): { logger: Logger; logged: [message: string, fields: unknown][] } {
  const logged: [string, unknown][] = [];
  const log = (message: string, fields?: unknown) => void logged.push([message, fields]);
  return { logger: { debug: log, info: log, warn: log, error: log }, logged };
}
/** The time after which keys that are missing are fetched again. */
const retryMs = 10_000;
const fetchFailed = ([message]: [string, unknown]): boolean =>
  message.startsWith('keys of an OpenID issuer cannot be fetched');

const protocols: readonly Protocol[] = ['http/1.1', 'h2'];

it.each(protocols)('claims become the user of a request by %s', async (protocol) => {
  const issuer = await startIssuer();
  const mapped = entryOf(issuer, {
    claimMappings: {
      username: { expression: '"user:" + claims.sub' },
      groups: { claim: 'roles', prefix: 'role:' },
      uid: { expression: 'claims.kubernetes__dot__io.uid' },
      extra: [
        { key: 'example.com/tenant', valueExpression: 'claims.tenant' },
        { key: 'example.com/none', valueExpression: '""' },
      ],
    },
    claimValidationRules: [
      { claim: 'hd', requiredValue: 'example.com' },
      { expression: 'claims.exp - claims.iat <= 3600', message: 'lives too long' },
    ],
    userValidationRules: [{ expression: "!user.username.startsWith('user:system:')", message: 'reserved' }],
  });
  const server = await start(content(mapped));
  const client = server.client({ protocol });
  const claims = { hd: 'example.com', tenant: ['a', 'b'], roles: ['dev'], 'kubernetes.io': { uid: 'u1' }, jti: 'j1' };
  await eventually('the issuer is ready', async () => (await whoAmI(client, issuer.token(claims))).code === 201);
  expect(await userOf(client, issuer.token(claims))).toEqual({
    username: 'user:ali',
    uid: 'u1',
    groups: ['role:dev', 'system:authenticated'],
    extra: { 'example.com/tenant': ['a', 'b'], 'authentication.kubernetes.io/credential-id': ['JTI=j1'] },
  });
  const refused: Fields[] = [{ hd: 'other' }, { iat: 0 }, { sub: 'system:admin' }, { 'kubernetes.io': {} }];
  for (const change of refused) expect((await whoAmI(client, issuer.token({ ...claims, ...change }))).code).toBe(401);
  expect(await review(server, issuer.token({ ...claims, sub: 'system:admin' }))).toMatchObject({
    error: expect.stringContaining('failed: reserved') as string,
  });
});

it('each of several issuers has its own mappings and audiences', async () => {
  const [one, other] = [await startIssuer(), await startIssuer()];
  const ofOther = {
    issuer: { ...other.settings, audiences: ['x', 'keelson'], audienceMatchPolicy: 'MatchAny' },
    claimMappings: { username: { claim: 'email', prefix: '' } },
  };
  const server = await startReady([one], content(entryOf(one), ofOther));
  const client = server.client();
  const email = { email: 'ali@example.com', email_verified: true };
  await eventually('the other is ready', async () => (await whoAmI(client, other.token(email))).code === 201);
  expect(await userOf(client, one.token(email))).toMatchObject({ username: 'oidc:ali' });
  expect(await userOf(client, other.token({ ...email, aud: ['y', 'x'] }))).toMatchObject({
    username: 'ali@example.com',
  });
  expect((await whoAmI(client, other.token({ ...email, email_verified: false }))).code).toBe(401);
  expect((await whoAmI(client, one.token({ aud: ['y', 'x'] }))).code).toBe(401);
  // The keys of one do not verify tokens of the other.
  expect((await whoAmI(client, other.token({ ...email, iss: one.url }))).code).toBe(401);
  expect((await whoAmI(client, one.token({ ...email, iss: other.url }))).code).toBe(401);
});

it('tokens of all asymmetric algorithms are accepted with a configuration file', async () => {
  const algorithms: readonly Algorithm[] = [
    ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const),
  ];
  const issuer = await startIssuer();
  issuer.keys = algorithms.map((algorithm) => makeIssuerKey(algorithm, algorithm));
  const server = await startReady([issuer], content(entryOf(issuer)));
  for (const key of issuer.keys) {
    const user = await userOf(server.client(), issuer.token({}, key));
    expect([key.id, user]).toEqual([key.id, expect.objectContaining({ username: 'oidc:ali' })]);
  }
});

it('forged and invalid tokens are rejected (401)', async () => {
  const [issuer, other] = [await startIssuer(), await startIssuer()];
  issuer.keys = [makeIssuerKey('rsa', 'RS256'), makeIssuerKey('ec', 'ES256')];
  const server = await startReady([issuer], content(entryOf(issuer)));
  const [rsa, ec] = issuer.keys as [(typeof issuer.keys)[0], (typeof issuer.keys)[0]];
  const now = Math.floor(Date.now() / 1000);
  const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const valid = issuer.token();
  const [head, body, signature] = valid.split('.') as [string, string, string];
  const hmac = (secret: string | Buffer, kid?: string) => {
    const signed = `${segment({ alg: 'HS256', kid })}.${segment(issuer.claims())}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };
  const publicPem = createPublicKey(rsa.key).export({ type: 'spki', format: 'pem' });
  const deep = `{"a":${'['.repeat(900)}${']'.repeat(900)}}`;
  const raw = (claims: string) => signToken(claims, rsa);
  const rawClaims = (more: string) => raw(`${JSON.stringify(issuer.claims()).slice(0, -1)},${more}}`);
  const invalid: Readonly<Record<string, string>> = {
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'four parts': `${valid}.${signature}`,
    'alg none': `${segment({ alg: 'none' })}.${segment(issuer.claims())}.`,
    'alg none with a signature': `${segment({ alg: 'none' })}.${body}.${signature}`,
    'alg NONE': `${segment({ alg: 'NONE' })}.${body}.${signature}`,
    'HS256 with the public key in PEM': hmac(publicPem, 'rsa'),
    'HS256 with the key set': hmac(JSON.stringify({ keys: [publicJwk(rsa)] })),
    'HS256 with an empty key': hmac(''),
    'RS256 as PS256': signToken(issuer.claims(), rsa, { alg: 'PS256', kid: 'rsa' }),
    'RS256 for an EC key': signToken(issuer.claims(), rsa, { alg: 'RS256', kid: 'ec' }),
    'ES256 for an RSA key': signToken(issuer.claims(), ec, { alg: 'ES256', kid: 'rsa' }),
    'no alg': signToken(issuer.claims(), rsa, { kid: 'rsa' }),
    'a list as alg': signToken(issuer.claims(), rsa, { alg: ['RS256'], kid: 'rsa' }),
    'constructor as alg': signToken(issuer.claims(), rsa, { alg: 'constructor', kid: 'rsa' }),
    'an unknown kid': signToken(issuer.claims(), rsa, { alg: 'RS256', kid: 'x' }),
    'a number as kid': signToken(issuer.claims(), rsa, { alg: 'RS256', kid: 1 }),
    'critical fields': signToken(issuer.claims(), rsa, { alg: 'RS256', kid: 'rsa', crit: ['exp'] }),
    'its own key': signToken(issuer.claims(), other.keys[0]!, {
      alg: 'ES256',
      kid: 'ec',
      jwk: publicJwk(other.keys[0]!),
    }),
    'a URL of its own keys': signToken(issuer.claims(), other.keys[0]!, { alg: 'ES256', jku: `${other.url}/keys` }),
    'the key of another issuer': issuer.token({}, other.keys[0]),
    'another issuer': issuer.token({ iss: other.url }),
    'the issuer with a slash': issuer.token({ iss: `${issuer.url}/` }),
    'no issuer': issuer.token({ iss: undefined }),
    'a list as issuer': issuer.token({ iss: [issuer.url] }),
    'another audience': issuer.token({ aud: 'other' }),
    'no audience': issuer.token({ aud: undefined }),
    'an empty list of audiences': issuer.token({ aud: [] }),
    'a number in the audiences': issuer.token({ aud: ['keelson', 1] }),
    'an object as audience': issuer.token({ aud: { keelson: true } }),
    expired: issuer.token({ exp: now - 1 }),
    'no expiration': issuer.token({ exp: undefined }),
    'a text as expiration': issuer.token({ exp: `${now + 3600}` }),
    'an expiration far away': rawClaims('"exp":1e300'),
    'not valid yet': issuer.token({ nbf: now + 3600 }),
    'a text as nbf': issuer.token({ nbf: 'a' }),
    'a text as iat': issuer.token({ iat: 'a' }),
    'a number as subject': issuer.token({ sub: 1 }),
    'an empty subject': issuer.token({ sub: '' }),
    'no subject': issuer.token({ sub: undefined }),
    'a claim __proto__': rawClaims('"__proto__":{"sub":"admin"}'),
    'a subject in __proto__': raw(
      JSON.stringify({ ...issuer.claims(), sub: undefined }).replace('}', ',"__proto__":{"sub":"x"}}'),
    ),
    'a second issuer': rawClaims(`"iss":"${other.url}"`),
    'a second audience': rawClaims('"aud":"other"'),
    'a second expiration': rawClaims('"exp":1'),
    'claims that are a list': raw('[]'),
    'claims that are a text': raw('"a"'),
    'claims that are null': raw('null'),
    'claims that are no JSON': raw('{"iss":'),
    'no claims': raw(''),
    'claims with deep lists': raw(deep),
    'claims deeper than the limit': raw(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
    'a huge number': rawClaims(`"exp":1${'0'.repeat(400)}`),
    'other claims': `${head}.${segment({ ...issuer.claims(), sub: 'admin' })}.${signature}`,
    'another header': `${segment({ alg: 'RS256', kid: 'ec' })}.${body}.${signature}`,
    'a signature of zeros': `${head}.${body}.${Buffer.alloc(256).toString('base64url')}`,
    'a signature of one byte': `${head}.${body}.AA`,
    'a token over the limit': issuer.token({ padding: 'x'.repeat(50_000) }),
    'a token in the JSON serialization': JSON.stringify({ payload: body, protected: head, signature }),
  };
  for (const protocol of protocols) {
    const client = server.client({ protocol });
    expect((await whoAmI(client, valid)).code).toBe(201);
    for (const [title, token] of Object.entries(invalid)) {
      // A header that HTTP/2 does not carry.
      if (protocol === 'h2' && token.length > 60_000) continue;
      expect([title, (await whoAmI(client, token)).code]).toEqual([title, 401]);
    }
    // Two tokens in one header, and other schemes.
    for (const authorization of [
      `Bearer ${valid} ${valid}`,
      `Basic ${valid}`,
      `bearer`,
      `Bearer`,
      `Bearer  `,
      `${valid}`,
    ]) {
      const { code } = await client.get('/api/v1/namespaces', { authorization });
      expect([authorization.slice(0, 20), [401, 403].includes(code)]).toEqual([authorization.slice(0, 20), true]);
    }
    expect((await whoAmI(client, valid)).code).toBe(201);
  }
});

it('nbf has a leeway of a minute, and an extra claim iss of another case is none', async () => {
  const issuer = await startIssuer();
  const server = await startReady([issuer], content(entryOf(issuer)));
  const now = Math.floor(Date.now() / 1000);
  expect((await whoAmI(server.client(), issuer.token({ nbf: now + 30, ISS: 'x' }))).code).toBe(201);
});

it('a remembered token is rejected when it expires', async () => {
  const issuer = await startIssuer();
  let shiftMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + shiftMs };
  const server = await startReady([issuer], content(entryOf(issuer)), { clock });
  const token = issuer.token();
  expect((await whoAmI(server.client(), token)).code).toBe(201);
  shiftMs = 3_600_001;
  expect((await whoAmI(server.client(), token)).code).toBe(401);
});

it('TokenReview has the user, the audiences of the server, and the reason of a rejection', async () => {
  const issuer = await startIssuer();
  const server = await startReady([issuer], content(entryOf(issuer)));
  const own = 'https://kubernetes.default.svc';
  expect(await review(server, issuer.token())).toMatchObject({ authenticated: true, user: { username: 'oidc:ali' } });
  expect(await review(server, issuer.token(), ['other', own])).toMatchObject({ authenticated: true, audiences: [own] });
  // The audiences of the issuer are those of its configuration, not of the server.
  expect((await review(server, issuer.token(), ['keelson'])).authenticated).not.toBe(true);
  const reasons: [Fields, string][] = [
    [{ exp: 1 }, 'oidc: the token has expired'],
    [{ aud: 'x' }, 'oidc: the token is for other audiences'],
    [{ sub: undefined }, 'oidc: claim "sub" is missing'],
  ];
  for (const [claims, reason] of reasons) {
    const { authenticated, error } = await review(server, issuer.token(claims));
    expect([authenticated === true, error]).toEqual([false, expect.stringContaining(reason)]);
  }
});

it('the server starts while an issuer is down, and accepts its tokens once it is up', async () => {
  const issuer = await startIssuer();
  issuer.isDown = true;
  const { logger, logged } = recordingLogger();
  const clock = new AdvancedClock();
  const server = await start(content(entryOf(issuer)), { logger, clock });
  const token = issuer.token();
  expect((await whoAmI(server.client(), token)).code).toBe(401);
  expect(await review(server, token)).toMatchObject({
    error: expect.stringContaining('have not been fetched yet') as string,
  });
  await eventually('the reason is logged', () => logged.some(fetchFailed));
  expect(logged).toContainEqual([
    'tokens of an issuer were rejected (401); compare them with its entry in the configuration',
    expect.objectContaining({ issuer: issuer.url, reason: 'the keys of the issuer have not been fetched yet' }),
  ]);
  expect((await server.admin.get('/readyz')).code).toBe(200);
  issuer.isDown = false;
  clock.advance(retryMs);
  await eventually('the token is accepted', async () => (await whoAmI(server.client(), token)).code === 201);
  expect(JSON.stringify(logged)).not.toContain(token);
});

it('a rotated key is found, and random key ids cause few requests to the issuer', async () => {
  const issuer = await startIssuer();
  const server = await startReady([issuer], content(entryOf(issuer)));
  const client = server.client();
  const rotated = makeIssuerKey('rotated');
  issuer.keys = [rotated];
  await eventually(
    'tokens of the new key are accepted',
    async () => (await whoAmI(client, issuer.token())).code === 201,
  );
  const before = issuer.requests.length;
  const beginMs = performance.now();
  const tokens = Array.from({ length: 300 }, (_, index) => issuer.token({}, { ...rotated, id: `random-${index}` }));
  for (const token of tokens) expect((await whoAmI(client, token)).code).toBe(401);
  // At most one a second, and some at the beginning.
  expect(issuer.requests.length - before).toBeLessThanOrEqual(3 + (performance.now() - beginMs) / 1000);
});

it('200 reloads under load drop no request of an issuer that stays, also with broken files in between', async () => {
  const [stays, changes] = [await startIssuer(), await startIssuer()];
  const rules = (index: number) => ({ userValidationRules: [{ expression: `user.username != 'nobody${index}'` }] });
  const server = await startReady([stays], content(entryOf(stays)));
  const files = (index: number): readonly string[] => [
    content(entryOf(stays, rules(index)), entryOf(changes)),
    content(entryOf(stays, rules(index))),
    '{"apiVersion": ',
    content(entryOf(stays, { userValidationRules: [{ expression: 'user.' }] })),
    content(entryOf(stays, { claimMappings: {} })),
  ];
  const codes = new Map<number, number>();
  const clients = protocols.map((protocol) => server.client({ protocol }));
  const request = async (client: HttpClient, index: number): Promise<void> => {
    // Some tokens are remembered, others are not.
    const { code } = await whoAmI(client, stays.token({ jti: `${index % 3}` }));
    codes.set(code, (codes.get(code) ?? 0) + 1);
  };
  for (let index = 0; index < 200; index++) {
    const versions = files(index);
    await write(versions[index % versions.length]!);
    const load = clients.map(async (client) => {
      for (let count = 0; count < 5; count++) await request(client, index + count);
    });
    await Promise.all([reload(server), ...load]);
  }
  expect([...codes.keys()]).toEqual([201]);
  // A broken file does not change anything, and the next one does.
  await write(content(entryOf(stays), entryOf(changes)));
  await reload(server);
  const [kept, removed] = [stays.token(), changes.token()];
  await eventually('the second issuer is used', async () => (await whoAmI(server.client(), removed)).code === 201);
  await write('broken');
  await reload(server);
  expect((await whoAmI(server.client(), removed)).code).toBe(201);
  await write(content(entryOf(stays)));
  await reload(server);
  expect((await whoAmI(server.client(), removed)).code).toBe(401);
  expect((await whoAmI(server.client(), kept)).code).toBe(201);
  const reloads = await metric(server, /^apiserver_authentication_config_controller_automatic_reloads_total/);
  const countOf = (status: string) =>
    Number(
      reloads
        .find((line) => line.includes(`status="${status}"`))
        ?.split(' ')
        .at(-1),
    );
  expect(countOf('failure')).toBeGreaterThanOrEqual(100);
  expect(countOf('success')).toBeGreaterThanOrEqual(40);
});

it('a new issuer that is down leaves the old configuration in use until it is up', async () => {
  const [old, next] = [await startIssuer(), await startIssuer()];
  next.isDown = true;
  const { logger, logged } = recordingLogger();
  const clock = new AdvancedClock();
  const server = await startReady([old], content(entryOf(old)), { logger, clock });
  await write(content(entryOf(next)));
  await reload(server);
  expect((await whoAmI(server.client(), next.token())).code).toBe(401);
  expect((await whoAmI(server.client(), old.token())).code).toBe(201);
  await eventually('the keys of the new issuer are missing', () => logged.some(fetchFailed));
  next.isDown = false;
  clock.advance(retryMs);
  await eventually('the new issuer is used', async () => (await whoAmI(server.client(), next.token())).code === 201);
  expect((await whoAmI(server.client(), old.token())).code).toBe(401);
});

it('metrics have hashes of issuers and of the configuration', async () => {
  const issuer = await startIssuer();
  const server = await startReady([issuer], content(entryOf(issuer)));
  expect((await whoAmI(server.client(), issuer.token({ exp: 1 }))).code).toBe(401);
  const lines = await metric(server, /^apiserver_authentication_(jwt|config)/);
  const hashes = ['jwt_issuer_hash', 'apiserver_id_hash'];
  const expected: readonly [name: string, hashes: readonly string[], label?: string][] = [
    ['jwt_authenticator_latency_seconds_count', ['jwt_issuer_hash'], 'result="success"'],
    ['jwt_authenticator_latency_seconds_count', ['jwt_issuer_hash'], 'result="failure"'],
    ['jwt_authenticator_jwks_fetch_last_timestamp_seconds', hashes, 'result="success"'],
    ['jwt_authenticator_jwks_fetch_last_key_set_info', [...hashes, 'hash']],
    ['config_controller_last_config_info', ['apiserver_id_hash', 'hash']],
  ];
  for (const [name, labels, label = ''] of expected) {
    const found =
      lines.find((line) => line.startsWith(`apiserver_authentication_${name}{`) && line.includes(label)) ?? '';
    for (const one of labels)
      expect([name, found]).toEqual([name, expect.stringMatching(`${one}="sha256:[0-9a-f]{64}"`)]);
  }
});

describe('--oidc-* flags', () => {
  async function startWithFlags(issuer: OidcIssuer, oidc: NonNullable<ConfigOverrides['authentication']>['oidc'] = {}) {
    const caFile = join(directory, 'oidc-ca.pem');
    await writeFile(caFile, issuer.ca);
    return start(undefined, {
      authentication: { oidc: { issuerUrl: issuer.url, clientId: 'keelson', caFile, ...oidc } },
    });
  }

  it('configure an issuer whose users have its URL as prefix', async () => {
    const issuer = await startIssuer();
    issuer.keys = [makeIssuerKey('rsa', 'RS256')];
    const server = await startWithFlags(issuer);
    await eventually('tokens are accepted', async () => (await whoAmI(server.client(), issuer.token())).code === 201);
    expect(await userOf(server.client(), issuer.token())).toMatchObject({ username: `${issuer.url}#ali` });
    // RS256 is the only algorithm by default.
    const pss = makeIssuerKey('rsa', 'PS256');
    expect((await whoAmI(server.client(), issuer.token({}, pss))).code).toBe(401);
  });

  it('map groups and require claims', async () => {
    const issuer = await startIssuer();
    const server = await startWithFlags(issuer, {
      signingAlgorithms: ['ES256'],
      usernameClaim: 'email',
      groupsClaim: 'groups',
      groupsPrefix: 'g:',
      requiredClaims: ['hd=a,b'],
    });
    const claims = { email: 'a@b', groups: 'dev', hd: 'a,b' };
    await eventually(
      'tokens are accepted',
      async () => (await whoAmI(server.client(), issuer.token(claims))).code === 201,
    );
    expect(await userOf(server.client(), issuer.token(claims))).toMatchObject({
      username: 'a@b',
      groups: ['g:dev', 'system:authenticated'],
    });
    expect((await whoAmI(server.client(), issuer.token({ ...claims, hd: 'a' }))).code).toBe(401);
  });

  it.each([
    ['an http URL', { issuerUrl: 'http://a.example' }, /--oidc-issuer-url: .*URL scheme must be https/],
    ['a CA file that does not exist', { caFile: '/nowhere/ca.pem' }, /--oidc-ca-file: \/nowhere\/ca.pem: /],
    [
      'no client id',
      { clientId: undefined, issuerUrl: 'https://a.example' },
      /--oidc-issuer-url, --oidc-client-id: must be given together/,
    ],
    ['a required claim without value', { requiredClaims: ['a'] }, /--oidc-required-claim: "a" must be claim=value/],
  ])('with %s fail the start', async (_title, oidc, message) => {
    const complete = { issuerUrl: 'https://a.example', clientId: 'a', ...oidc };
    await expect(start(undefined, { authentication: { oidc: complete } })).rejects.toThrow(message);
  });

  it('beside --authentication-config fail the start', async () => {
    const oidc = { issuerUrl: 'https://a.example', clientId: 'a' };
    await expect(start(content(), { authentication: { oidc } })).rejects.toThrow(
      '--authentication-config, --oidc-*: cannot be given together',
    );
  });
});

it('10,000 malformed Authorization headers and tokens are never accepted and never fail with 5xx', async () => {
  const issuer = await startIssuer();
  const server = await startReady([issuer], content(entryOf(issuer)), { authentication: { anonymous: false } });
  const random = randomNumbers(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const text = (length: number, alphabet: string) => Array.from({ length }, () => pick([...alphabet])).join('');
  const base64 = 'ABCxyz019-_';
  const valid = issuer.token();
  const parts = valid.split('.');
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const odd = [null, true, 0, -1, 1e300, '', 'a', [], {}, [[]], { a: { b: [] } }, 'x'.repeat(300), '\u0000', '😀'];
  const forms: readonly (() => string)[] = [
    () => `Bearer ${text(Math.floor(random() * 80), `${base64}.=+/ `)}`,
    () => `Bearer ${[0, 1, 2].map(() => text(1 + Math.floor(random() * 60), base64)).join('.')}`,
    () => text(1 + Math.floor(random() * 40), `${base64} .,;="'\\Bearer`),
    () => {
      // Changed in its content, where no bit is without meaning.
      const at = Math.floor(random() * (valid.length - parts[2]!.length - 1));
      return `Bearer ${valid.slice(0, at)}${valid[at] === 'A' ? 'B' : 'A'}${valid.slice(at + 1)}`;
    },
    () => `Bearer ${valid.slice(0, Math.floor(random() * (valid.length - 3)))}`,
    () =>
      `Bearer ${encoded({ alg: pick(['none', 'HS256', 'ES256', ...odd]), kid: pick(odd) })}.${parts[1]}.${parts[2]}`,
    () =>
      `Bearer ${parts[0]}.${encoded({ ...issuer.claims(), [pick(['sub', 'exp', 'aud', 'x'])]: pick(odd) })}.${parts[2]}`,
    () => `Bearer ${encoded(pick(odd))}.${encoded({ iss: issuer.url })}.${text(20, base64)}`,
    () =>
      `Bearer ${signToken({ ...issuer.claims(), [pick(['sub', 'exp', 'aud', 'iss'])]: pick(odd.filter((one) => typeof one !== 'string')) }, issuer.keys[0]!)}`,
    () => `Bearer ${parts[0]}.${Buffer.from(text(30, '{}[]",:0e-')).toString('base64url')}.${parts[2]}`,
  ];
  const clients = protocols.map((protocol) => server.client({ protocol }));
  const codes = new Map<number, number>();
  for (let round = 0; round < 500; round++) {
    const answers = Array.from({ length: 20 }, async (_, index) => {
      const authorization = pick(forms)().trim();
      const { code } = await clients[(round + index) % 2]!.get('/api/v1/namespaces', { authorization });
      if (code !== 401) throw new Error(`${code} for ${authorization}`);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    });
    await Promise.all(answers);
  }
  expect([...codes]).toEqual([[401, 10_000]]);
  expect((await whoAmI(server.client(), valid)).code).toBe(201);
});

/** Returns a generator of numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
