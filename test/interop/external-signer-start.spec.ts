import { startKeelson, type Keelson } from '../../src/testing.js';
import { readJwt } from '../../src/auth/jwt.js';
import { HttpClient } from '../harness/http-client.js';
import { TokenSigner, type SignerState } from '../harness/token-signer.js';

/** The start with --service-account-signing-endpoint. */
const account = '/api/v1/namespaces/default/serviceaccounts/robot';
const pods = '/api/v1/namespaces/default/pods';
/** Shorter than the default, and long enough for a call on a busy machine. */
const limits = { tokenSignerTimeoutMs: 4_000 };

describe('the maximum validity of an external signer', () => {
  const signer = new TokenSigner();
  let started: Keelson | undefined;
  afterAll(() => signer.stop());
  afterEach(async () => {
    await started?.stop();
    started = undefined;
  });

  const start = async (state: Partial<SignerState>, tokenLifeMsMax = 0): Promise<Keelson> => {
    await signer.kill();
    await signer.start(state);
    const serviceAccount = { signingEndpoint: signer.socket, tokenLifeMsMax };
    return (started = await startKeelson({ config: { authentication: { serviceAccount }, limits } }));
  };

  it('shortens tokens, and limits the extension of tokens of Pods', async () => {
    const keelson = await start({ maxSeconds: 7200 });
    const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    try {
      await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
      const spec = { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] };
      await admin.post(pods, { metadata: { name: 'p' }, spec });
      const long = await admin.post(`${account}/token`, { spec: { expirationSeconds: 10_000 } });
      expect(long.body.spec.expirationSeconds).toBe(7200);
      expect(long.warnings).toEqual(['requested expiration of 10000 seconds shortened to 7200 seconds']);
      const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
      const { body } = await admin.post(`${account}/token`, { spec: { expirationSeconds: 3607, boundObjectRef } });
      const { exp, iat } = readJwt(body.status.token as string)!.payload;
      expect((exp as number) - (iat as number)).toBe(7200);
    } finally {
      admin.close();
    }
  });

  it.each<[string, Partial<SignerState>, number, RegExp]>([
    [
      'supports only tokens of less than 10 minutes',
      { maxSeconds: 599 },
      0,
      /^--service-account-signing-endpoint: the signer at \S+ supports tokens of 599 seconds; at least 600 are required$/,
    ],
    [
      'supports less than --service-account-max-token-expiration',
      { maxSeconds: 7200 },
      7_201_000,
      /^--service-account-max-token-expiration, --service-account-signing-endpoint: 7201 seconds are more than the 7200/,
    ],
    ['has no keys', { keys: [] }, 0, /^--service-account-signing-endpoint: the signer at \S+ returned no keys$/],
  ])('a signer that %s fails the start', async (_what, state, tokenLifeMsMax, message) => {
    await expect(start(state, tokenLifeMsMax)).rejects.toThrow(message);
  });

  it('a signer that hangs, and one that does not exist, fail the start when the time for a call is over', async () => {
    const hanging = expect(start({ Metadata: 'hang' })).rejects.toThrow(
      /^--service-account-signing-endpoint: the signer at \S+ answered with DeadlineExceeded \(Metadata\)$/,
    );
    const signingEndpoint = '/nonexistent/signer.sock';
    const absent = startKeelson({ config: { authentication: { serviceAccount: { signingEndpoint } }, limits } });
    await expect(absent).rejects.toThrow(
      '--service-account-signing-endpoint: the signer at /nonexistent/signer.sock cannot be reached (FetchKeys)',
    );
    await hanging;
  });
});
