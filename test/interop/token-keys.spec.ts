import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJwt } from '../../src/auth/jwt.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';

/** Keys of service account tokens that change while the server runs. */
const directory = mkdtempSync(join(tmpdir(), 'keelson-keys-'));
const signingFile = join(directory, 'sa.key');
const publicFile = join(directory, 'sa.pub');
const issuer = 'https://new.example.com';
const account = '/api/v1/namespaces/default/serviceaccounts/robot';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    privatePem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicPem: String(publicKey.export({ type: 'spki', format: 'pem' })),
  };
};
const [first, second, third] = [newKey(), newKey(), newKey()];

let keelson: Keelson;
let admin: HttpClient;
const errors: string[] = [];

beforeAll(async () => {
  writeFileSync(signingFile, first.privatePem);
  // A file with several keys.
  writeFileSync(publicFile, first.publicPem + third.publicPem);
  const serviceAccount = {
    issuers: [issuer, 'https://old.example.com'],
    signingKeyFile: signingFile,
    keyFiles: [publicFile],
  };
  keelson = await startKeelson({
    config: { authentication: { serviceAccount } },
    logger: {
      ...{ debug: () => undefined, info: () => undefined, warn: () => undefined },
      error: (message, fields) => void errors.push(`${message} ${JSON.stringify(fields)}`),
    },
  });
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
});
afterAll(async () => {
  admin.close();
  await keelson.stop();
  rmSync(directory, { recursive: true, force: true });
});

const newToken = async () => (await admin.post(`${account}/token`, {})).body.status.token as string;
const keyIdOf = (token: string) => readJwt(token)!.header.kid;
const publishedIds = async () =>
  ((await admin.get('/openid/v1/jwks')).body.keys as { kid: string }[]).map(({ kid }) => kid).sort();

/** The code of an unauthorized request with the token on a new connection. */
async function codeWith(token: string): Promise<number> {
  const client = new HttpClient({ url: keelson.url, ca: keelson.ca, token });
  try {
    return (await client.get('/api/v1/namespaces/default/pods')).code;
  } finally {
    client.close();
  }
}

it('discovery has the first issuer, and the keys of all files', async () => {
  expect((await admin.get('/.well-known/openid-configuration')).body).toMatchObject({ issuer });
  expect(await publishedIds()).toHaveLength(2);
  expect(readJwt(await newToken())!.payload.iss).toBe(issuer);
});

it('a changed key signs and is published, and tokens of the old key stay valid until it is removed', async () => {
  const oldToken = await newToken();
  const before = await publishedIds();
  writeFileSync(publicFile, first.publicPem + second.publicPem);
  await eventually('the second key is published', async () => (await publishedIds()).join() !== before.join());
  expect(keyIdOf(await newToken())).toBe(keyIdOf(oldToken));
  writeFileSync(signingFile, second.privatePem);
  await eventually('the second key signs', async () => keyIdOf(await newToken()) !== keyIdOf(oldToken));
  const newerToken = await newToken();
  expect(await publishedIds()).toEqual([keyIdOf(oldToken), keyIdOf(newerToken)].sort());
  expect([await codeWith(oldToken), await codeWith(newerToken)]).toEqual([403, 403]);

  writeFileSync(publicFile, second.publicPem);
  await eventually('the first key is removed', async () => (await publishedIds()).length === 1);
  // The result of a token is cached for ten seconds.
  await eventually('tokens of the first key are rejected', async () => (await codeWith(oldToken)) === 401);
  expect(await codeWith(newerToken)).toBe(403);
});

it('a damaged file is logged without its content, and the old keys stay in use', async () => {
  const token = await newToken();
  writeFileSync(signingFile, second.privatePem.slice(0, 90));
  await eventually('the damaged file is logged', () => errors.length > 0);
  expect(errors.join()).toContain('changed service account keys cannot be used; the old contents stay in use');
  expect(errors.join()).not.toContain(second.privatePem.slice(40, 60));
  expect(keyIdOf(await newToken())).toBe(keyIdOf(token));
  expect(await codeWith(token)).toBe(403);
  writeFileSync(signingFile, second.privatePem);
});
