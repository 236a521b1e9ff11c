import { startOpenKeelson, type OpenKeelson } from '../../src/assembly/start-keelson.js';
import { readJwt } from '../../src/auth/jwt.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { TokenSigner, type SignerState } from '../harness/token-signer.js';

/** --service-account-signing-endpoint with a signer in another process, which hangs, dies and answers garbage. */
const issuer = 'https://kubernetes.default.svc';
const account = '/api/v1/namespaces/default/serviceaccounts/robot';
const pods = '/api/v1/namespaces/default/pods';
/** Shorter than the default, and long enough for a call on a busy machine. */
const limits = { tokenSignerTimeoutMs: 4_000 };
const working: Partial<SignerState> = {
  ...{ Sign: 'ok', FetchKeys: 'ok', Metadata: 'ok', signWith: 'k1', refresh: 3600, hasTimestamp: true },
  ...{ maxSeconds: 86_400, header: {}, signature: null, der: null },
};

describe('an external signer', () => {
  const signer = new TokenSigner();
  let keelson: OpenKeelson;
  let admin: HttpClient;
  let uid: string;
  const errors: string[] = [];

  const serverWith = (socket: string, tokenLifeMsMax = 0): Parameters<typeof startOpenKeelson>[0] => ({
    config: {
      authentication: { serviceAccount: { signingEndpoint: socket, tokenLifeMsMax, issuers: [issuer] } },
      limits,
    },
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (message, fields) => void errors.push(`${message} ${JSON.stringify(fields)}`),
    },
  });
  const request = (spec: object = {}) => admin.post(`${account}/token`, { spec });
  const tokenOf = async (spec?: object) => (await request(spec)).body.status.token as string;

  /** The code of a request with a token, which is not authorized. Every call uses a new text, to pass the cache. */
  let attempts = 0;
  async function codeWith(token: string): Promise<number> {
    const client = new HttpClient({ url: keelson.url, ca: keelson.ca });
    // The scheme is case-insensitive, so each of these headers is another key of the cache.
    const scheme = [...'bearer'].map((char, index) => ((attempts >> index) & 1 ? char.toUpperCase() : char)).join('');
    attempts++;
    try {
      return (await client.get(pods, { authorization: `${scheme} ${token}` })).code;
    } finally {
      client.close();
    }
  }
  const metric = async (name: string) => {
    const { text } = await admin.get('/metrics');
    return Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  };

  beforeAll(async () => {
    await signer.start({ keys: [{ id: 'k1' }, { id: 'old', isExcluded: true }] });
    keelson = await startOpenKeelson(serverWith(signer.socket));
    admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    uid = (await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })).body
      .metadata.uid as string;
  });
  afterAll(async () => {
    admin.close();
    await keelson.stop();
    await signer.stop();
  });
  afterEach(() => signer.set({ ...working, keys: [{ id: 'k1' }, { id: 'old', isExcluded: true }] }));

  const payload = () => {
    const now = Math.floor(Date.now() / 1000);
    return {
      ...{ iss: issuer, aud: [issuer], iat: now, nbf: now, exp: now + 3600, jti: 'x' },
      sub: 'system:serviceaccount:default:robot',
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid } },
    };
  };

  it('signs tokens, which are authenticated', async () => {
    const token = await tokenOf();
    const { header, payload: claims } = readJwt(token)!;
    expect(header).toEqual({ alg: 'ES256', kid: 'k1', typ: 'JWT' });
    expect(claims).toMatchObject({ iss: issuer, sub: 'system:serviceaccount:default:robot' });
    expect(await codeWith(token)).toBe(403);
    const review = await admin.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
    expect(review.body.status).toMatchObject({
      authenticated: true,
      user: { extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims['jti'] as string}`] } },
    });
  });

  it('keys that are excluded from discovery verify tokens, and are not published', async () => {
    expect(await codeWith(await signer.sign('old', payload()))).toBe(403);
    const { body, headers } = await admin.get('/openid/v1/jwks');
    expect((body.keys as { kid: string }[]).map(({ kid }) => kid)).toEqual(['k1']);
    expect(Number(/^public, max-age=(\d+)$/.exec(headers['cache-control']!)![1])).toBeLessThanOrEqual(3600);
  });

  it('a new key signs at once, since keys are fetched for an unknown one, and tokens of the old key stay valid', async () => {
    const old = await tokenOf();
    await signer.set({ keys: [{ id: 'k1' }, { id: 'k2' }], signWith: 'k2' });
    await eventually('a token of the new key', async () => {
      const { code, body } = await request();
      return code === 201 && readJwt(body.status.token as string)!.header.kid === 'k2';
    });
    expect(await codeWith(await tokenOf())).toBe(403);
    expect(await codeWith(old)).toBe(403);
    const { body } = await admin.get('/openid/v1/jwks');
    expect((body.keys as { kid: string }[]).map(({ kid }) => kid)).toEqual(['k1', 'k2']);
  });

  it('tokens of unknown keys are rejected, and cause at most one call a second', async () => {
    const before = (await signer.set({})).FetchKeys;
    const began = performance.now();
    for (let i = 0; i < 30; i++) {
      const [header, claims, signature] = (await signer.sign('k1', payload())).split('.') as [string, string, string];
      const forged = Buffer.from(JSON.stringify({ ...parsed(header), kid: `made-up-${i}` })).toString('base64url');
      expect(await codeWith([forged, claims, signature].join('.'))).toBe(401);
    }
    const seconds = (performance.now() - began) / 1000;
    expect((await signer.set({})).FetchKeys - before).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  });

  it.each<[string, Partial<SignerState>, RegExp]>([
    ['an error', { Sign: 'error' }, /answered with PermissionDenied \(Sign\)/],
    ['bytes that are no message', { Sign: 'garbage' }, /answered with Internal \(Sign\)/],
    ['10 MB', { Sign: 'huge' }, /answered with (ResourceExhausted|Internal) \(Sign\)/],
    ['a header with another field', { header: { jku: 'https://evil.example.com' } }, /a header with unknown fields/],
    ['a header without typ', { header: { typ: '' } }, /typ is not JWT/],
    ['a header without kid', { header: { kid: '' } }, /a header without a valid kid/],
    ['a header with a long kid', { header: { kid: 'k'.repeat(1025) } }, /a header without a valid kid/],
    ['the algorithm none', { header: { alg: 'none' } }, /a signature that its key does not verify/],
    ['the algorithm of another key', { header: { alg: 'RS256' } }, /a signature that its key does not verify/],
    ['an unknown key', { signWith: 'k9' }, /a key that FetchKeys does not return/],
    ['an excluded key', { signWith: 'old' }, /a key that is excluded from discovery/],
    ['an empty signature', { signature: '' }, /no signature in base64url/],
    ['the signature of another token', { signature: 'A'.repeat(86) }, /a signature that its key does not verify/],
  ])('a request for a token that the signer answers with %s is a 500', async (_what, state, message) => {
    const token = await tokenOf();
    await signer.set(state);
    // Keys that the server does not know yet are fetched at most once a second.
    await eventually(`the message ${message}`, async () => {
      const { code, body, text } = await request();
      expect(code).toBe(500);
      expect(text).not.toContain('hsm-password');
      return message.test(body.message as string);
    });
    expect(await codeWith(token)).toBe(403);
  });

  it('a signer that hangs fails requests for tokens, and tokens of unknown keys do not wait for it', async () => {
    const token = await tokenOf();
    await signer.set({ Sign: 'hang', FetchKeys: 'hang' });
    const waiting = request();
    expect(await codeWith(token)).toBe(403);
    const forged = `${Buffer.from('{"alg":"ES256","kid":"made-up"}').toString('base64url')}.${token.split('.')[1]}.AAAA`;
    expect(await codeWith(forged)).toBe(401);
    expect((await waiting).body).toMatchObject({
      code: 500,
      message: expect.stringContaining('answered with DeadlineExceeded (Sign)') as unknown,
    });
  });

  it.each<[string, Partial<SignerState>, string]>([
    ['an error', { FetchKeys: 'error' }, 'PermissionDenied'],
    ['garbage', { FetchKeys: 'garbage' }, 'Internal'],
    ['no keys', { keys: [] }, 'unknown-non-grpc'],
    ['257 keys', { keys: Array.from({ length: 257 }, (_, n) => ({ id: 'k1', kid: `k${n}` })) }, 'unknown-non-grpc'],
    ['no refresh hint', { refresh: 0 }, 'unknown-non-grpc'],
    ['a negative refresh hint', { refresh: -1 }, 'Internal'],
    ['no timestamp', { hasTimestamp: false }, 'unknown-non-grpc'],
    ['an empty key id', { keys: [{ id: 'k1', kid: '' }] }, 'unknown-non-grpc'],
    ['a long key id', { keys: [{ id: 'k1', kid: 'k'.repeat(1025) }] }, 'unknown-non-grpc'],
    ['bytes instead of a key', { der: 'AAAA' }, 'unknown-non-grpc'],
  ])('tokens are verified with the last keys if FetchKeys returns %s', async (_what, state, code) => {
    const token = await tokenOf();
    const counter = `apiserver_externaljwt_fetch_keys_request_total{code="${code}"}`;
    const before = await metric(counter);
    await signer.set(state);
    const unknown = `${Buffer.from('{"alg":"ES256","kid":"new"}').toString('base64url')}.${token.split('.')[1]}.AAAA`;
    await eventually('a FetchKeys that failed', async () => {
      expect(await codeWith(unknown)).toBe(401);
      return (await metric(counter)) > before;
    });
    expect(await codeWith(token)).toBe(403);
    expect(errors.join()).toContain('tokens are verified with its last keys');
    expect(errors.join()).not.toContain('hsm-password');
  });

  it('tokens are verified while the signer is dead, and issued again once it is back', async () => {
    const token = await tokenOf();
    await signer.kill();
    expect(await codeWith(token)).toBe(403);
    const waiting = request();
    expect(await codeWith(token)).toBe(403);
    expect((await waiting).body).toMatchObject({
      code: 500,
      message: expect.stringMatching(/cannot be reached|answered with Unavailable/) as unknown,
    });
    // The new process has other keys under the same name, which replace the old ones.
    await signer.start({ keys: [{ id: 'k1', kid: 'k3' }], signWith: 'k1', header: { kid: 'k3' } });
    await eventually('a token of the new process', async () => (await request()).code === 201);
    expect(await codeWith(await tokenOf())).toBe(403);
  });

  it('the metrics have the calls by method and code', async () => {
    const { text } = await admin.get('/metrics');
    expect(text).toMatch(/^apiserver_externaljwt_sign_request_total\{code="OK"\} [1-9]/m);
    expect(text).toMatch(/^apiserver_externaljwt_fetch_keys_success_timestamp [1-9]/m);
    expect(text).toMatch(
      /^apiserver_externaljwt_request_duration_seconds_count\{method="\/v1\.ExternalJWTSigner\/Sign",code="OK"\} [1-9]/m,
    );
    expect(text).not.toContain('hsm-password');
  });
});

const parsed = (segment: string) => JSON.parse(Buffer.from(segment, 'base64url').toString()) as object;
