import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOpenServer } from '../../src/assembly/server.js';
import { readJwt } from '../../src/auth/jwt.js';
import { defaultConfig } from '../../src/config/load-config.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import type { Logger } from '../../src/std/logger.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';

/** The generated signing key of service account tokens, replaced while the server runs. */
const pollMs = 5_000;
const directory = mkdtempSync(join(tmpdir(), 'keelson-own-key-'));
const at = (name: string) => join(directory, 'pki', name);
const listedFile = join(directory, 'listed.pub');
const account = '/api/v1/namespaces/default/serviceaccounts/robot';
const errors: string[] = [];
const ignore = () => undefined;
const logger: Logger = {
  ...{ debug: ignore, info: ignore, warn: ignore },
  error: (message, fields) => void errors.push(`${message} ${JSON.stringify(fields)}`),
};

let aheadMs = 0;
/** Files are polled often, and the results of tokens are forgotten by forgetTokens(). */
const clock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  after: (delayMs, ...rest) => systemClock.after(delayMs === pollMs ? 50 : delayMs, ...rest),
};
const forgetTokens = () => void (aheadMs += 11_000);

let close: () => Promise<void>;
let url: string;
let ca: string;
let admin: HttpClient;

async function start(keyFiles: readonly string[]): Promise<void> {
  const config = defaultConfig({
    storage: { backend: 'memory', dataDirectory: directory },
    serving: { securePort: 0, bindAddress: '127.0.0.1' },
    authentication: { serviceAccount: { keyFiles } },
  });
  const server = await startOpenServer(config, { clock, logger });
  [close, url, ca] = [() => server.close(), server.url, server.pki.authority.current().pem];
  const { certificate, key } = server.pki.admin.current();
  admin = new HttpClient({ url, ca, certificate, key });
  expect((await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })).code).toBe(
    201,
  );
}
afterEach(async () => {
  admin.close();
  await close();
  errors.length = 0;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Replaces the file at once, so that no poll reads it half written. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.next`, text, { mode: 0o600 });
  renameSync(`${file}.next`, file);
}

const newKeyPem = () =>
  String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
const publicPem = (privatePem: string) => String(createPublicKey(privatePem).export({ type: 'spki', format: 'pem' }));
const newToken = async () => (await admin.post(`${account}/token`, {})).body.status.token as string;
const keyIdOf = (token: string) => readJwt(token)!.header.kid;
const publishedIds = async () =>
  ((await admin.get('/openid/v1/jwks')).body.keys as { kid: string }[]).map(({ kid }) => kid).sort();

/** The code of an unauthorized request with the token on a new connection. */
async function codeWith(token: string): Promise<number> {
  const client = new HttpClient({ url, ca, token });
  try {
    return (await client.get('/api/v1/namespaces/default/pods')).code;
  } finally {
    client.close();
  }
}

it('a replaced sa.key signs without a restart, and tokens of the old key are rejected', async () => {
  await start([]);
  const oldToken = await newToken();
  expect(await codeWith(oldToken)).toBe(403);
  const next = newKeyPem();
  replaceFile(at('sa.key'), next);
  await eventually('the new key signs', async () => keyIdOf(await newToken()) !== keyIdOf(oldToken));
  const newerToken = await newToken();
  expect(await publishedIds()).toEqual([keyIdOf(newerToken)]);
  expect(await codeWith(newerToken)).toBe(403);
  forgetTokens();
  expect(await codeWith(oldToken)).toBe(401);
  await eventually('sa.pub is replaced', () => readFileSync(at('sa.pub'), 'utf8') === publicPem(next));
  expect(errors).toEqual([]);
});

it('the old key stays trusted while --service-account-key-file lists it', async () => {
  replaceFile(listedFile, publicPem(readFileSync(at('sa.key'), 'utf8')));
  await start([listedFile]);
  const oldToken = await newToken();
  replaceFile(at('sa.key'), newKeyPem());
  await eventually('the new key signs', async () => keyIdOf(await newToken()) !== keyIdOf(oldToken));
  const newerToken = await newToken();
  expect(await publishedIds()).toEqual([keyIdOf(oldToken), keyIdOf(newerToken)].sort());
  expect([await codeWith(oldToken), await codeWith(newerToken)]).toEqual([403, 403]);
  replaceFile(listedFile, publicPem(readFileSync(at('sa.key'), 'utf8')));
  await eventually('the old key is removed', async () => (await publishedIds()).length === 1);
  forgetTokens();
  expect(await codeWith(oldToken)).toBe(401);
});

it.each([
  ['is cut off', () => newKeyPem().slice(0, 90)],
  ['is empty', () => ''],
  ['is a public key', () => publicPem(newKeyPem())],
  [
    'is of a kind that signs no tokens',
    () => String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
  ],
])('a sa.key that %s is logged without its content, and the old key stays in use', async (_what, content) => {
  const before = readFileSync(at('sa.key'), 'utf8');
  await start([]);
  const token = await newToken();
  const text = content();
  replaceFile(at('sa.key'), text);
  await eventually('the file is logged', () => errors.length > 0);
  expect(errors).toEqual([
    expect.stringMatching(/^changed service account key cannot be used; the old contents stay in use, correct the/),
  ]);
  expect(errors[0]).toContain(at('sa.key'));
  if (text !== '') expect(errors[0]).not.toContain(text.slice(40, 60));
  expect(keyIdOf(await newToken())).toBe(keyIdOf(token));
  expect(await codeWith(token)).toBe(403);
  const next = newKeyPem();
  replaceFile(at('sa.key'), next);
  await eventually('the corrected key signs', async () => keyIdOf(await newToken()) !== keyIdOf(token));
  replaceFile(at('sa.key'), before);
});
