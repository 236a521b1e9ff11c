import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { HttpClient } from '../../test/harness/http-client.js';
import { ServiceAccountTokens } from '../auth/service-account-tokens.js';
import { jwkOf, makeTokenKeys } from '../auth/token-keys.js';
import { startOpenKeelson, type OpenKeelson } from '../assembly/start-keelson.js';
import { OpenIdRequests } from './openid-requests.js';

let keelson: OpenKeelson;
let admin: HttpClient;
const issuer = 'https://issuer.example.com';
const configuration = '/.well-known/openid-configuration';
const keys = '/openid/v1/jwks';

beforeAll(async () => {
  keelson = await startOpenKeelson({ config: { authentication: { serviceAccount: { issuers: [issuer] } } } });
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
});
afterAll(async () => {
  admin.close();
  await keelson.stop();
});

it('serves the provider configuration with issuer and jwks_uri', async () => {
  const { body, headers } = await admin.get(configuration);
  expect(body).toEqual({
    issuer,
    jwks_uri: `https://${keelson.components.phase.address}${keys}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  });
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' });
});

it('serves the public keys of service account tokens', async () => {
  const { body, headers } = await admin.get(keys);
  const [{ kid }] = body.keys as [{ kid: string }];
  expect(headers['content-type']).toBe('application/jwk-set+json');
  expect(kid).toBe((await keelson.components.accountTokens.keys()).verifying[0]!.id);
});

it.each([
  ['GET', configuration, 'application/xml', 406],
  ['GET', keys, 'application/*, text/plain', 200],
  ['POST', configuration, '*/*', 405],
])('%s %s with Accept %s answers %s', async (method, path, accept, code) =>
  expect((await admin.request(method, path, { headers: { accept } })).code).toBe(code),
);

it.each(['rsa', 'P-256', 'P-384', 'P-521'])('a JWK of a %s key can be imported again', (kind) => {
  const { privateKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: kind });
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const [key] = makeTokenKeys({ name: 'sa.key', pem }).verifying;
  const read = createPublicKey({ key: jwkOf(key!) as JsonWebKey, format: 'jwk' });
  expect(read.equals(key!.publicKey)).toBe(true);
});

it.each([
  ['https://a.example.com', true],
  ['https://a.example.com/path', true],
  ['http://a.example.com', false],
  ['https://a.example.com?x', false],
  ['kubernetes/serviceaccount', false],
])('discovery is served for issuer %s: %s', (text, want) => {
  const tokens = new ServiceAccountTokens({
    issuers: [text],
    privateClaim: 'kubernetes.io',
    keys: () => Promise.reject(new Error('not asked')),
  });
  expect(new OpenIdRequests({ tokens, keysUri: undefined, address: () => '' }).isServed).toBe(want);
});
