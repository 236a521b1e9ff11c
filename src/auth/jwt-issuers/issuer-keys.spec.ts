import type { ServerResponse } from 'node:http';
import { eventually } from '../../../test/harness/eventually.js';
import { makeIssuerKey, OidcIssuer } from '../../../test/harness/oidc-issuer.js';
import { ManualClock } from '../../std/clock.js';
import { issuerSource } from '../configuration/jwt-list.js';
import { readJwt } from '../jwt.js';
import { IssuerKeys } from './issuer-keys.js';

const discoveryPath = '/.well-known/openid-configuration';

let issuer: OidcIssuer;
let clock: ManualClock;
let keys: IssuerKeys | undefined;
let logged: [message: string, fields: Record<string, unknown>][];
let fetches: ('success' | 'failure')[];
beforeEach(async () => {
  issuer = await OidcIssuer.start();
  clock = new ManualClock(Date.now());
  logged = [];
  fetches = [];
});
afterEach(async () => {
  keys?.close();
  keys = undefined;
  await issuer.close();
});

function open(source = issuerSource(issuer.url, issuer.ca)): IssuerKeys {
  const log = (message: string, fields: Record<string, unknown> = {}) => void logged.push([message, fields]);
  keys = new IssuerKeys({
    source,
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
    meters: { keysFetched: (_issuer, body) => void fetches.push(body ? 'success' : 'failure') },
  });
  return keys;
}

const verify = async (token: string) => keys!.verify(readJwt(token)!, 'ES256');
const failures = () => logged.flatMap(([, { failure }]) => (typeof failure === 'string' ? [failure] : []));
/** Opens keys whose first fetch fails, and returns the logged reason. */
async function failureOf(source?: Parameters<typeof open>[0]): Promise<unknown> {
  open(source);
  await eventually('a failure is logged', () => failures().length > 0);
  expect(keys!.isReady).toBe(false);
  return failures()[0];
}

it('keys are fetched in the background, once for any number of tokens', async () => {
  open();
  expect(keys!.isReady).toBe(false);
  await keys!.ready;
  for (let count = 0; count < 50; count++) expect(await verify(issuer.token())).toBe(true);
  expect(issuer.requests).toEqual([discoveryPath, '/keys']);
  expect(fetches).toEqual(['success']);
});

it('a token of a new key is verified after another fetch', async () => {
  await open().ready;
  clock.advance(10_000);
  const rotated = makeIssuerKey('second');
  issuer.keys = [...issuer.keys, rotated];
  expect(await verify(issuer.token({}, rotated))).toBe(true);
  expect(issuer.countOf('/keys')).toBe(2);
});

it('tokens of unknown keys cause few fetches, and never end the use of known keys', async () => {
  await open().ready;
  const forged = makeIssuerKey('unknown');
  for (let second = 0; second < 120; second++) {
    clock.advance(1_000);
    for (let count = 0; count < 5; count++) {
      expect(await verify(issuer.token({}, { ...forged, id: `random-${second}-${count}` }))).toBe(false);
    }
    expect(await verify(issuer.token())).toBe(true);
  }
  // After 1, 2 and 4 seconds, and then every eighth.
  expect(issuer.countOf('/keys')).toBeGreaterThan(10);
  expect(issuer.countOf('/keys')).toBeLessThan(22);
  const rotated = makeIssuerKey('rotated');
  issuer.keys = [rotated];
  clock.advance(8_000);
  expect(await verify(issuer.token({}, rotated))).toBe(true);
});

it('concurrent tokens of an unknown key share one fetch', async () => {
  await open().ready;
  clock.advance(60_000);
  const rotated = makeIssuerKey('rotated');
  issuer.keys = [rotated];
  const results = await Promise.all(Array.from({ length: 100 }, () => verify(issuer.token({}, rotated))));
  expect(results.every(Boolean)).toBe(true);
  expect(issuer.countOf('/keys')).toBe(2);
});

it('a removed key ends within five minutes of use', async () => {
  const [removed] = issuer.keys;
  await open().ready;
  issuer.keys = [makeIssuerKey('next')];
  clock.advance(5 * 60_000 + 1);
  expect(await verify(issuer.token({}, removed))).toBe(true);
  await eventually('the keys were fetched again', () => fetches.length === 2);
  expect(await verify(issuer.token({}, removed))).toBe(false);
});

it('an issuer that is down is retried every ten seconds, and its keys of the last fetch stay in use', async () => {
  issuer.isDown = true;
  expect(await failureOf()).toMatch(/disconnected|hang up|ECONNRESET/);
  issuer.isDown = false;
  clock.advance(10_000);
  await keys!.ready;
  expect(logged.map(([message]) => message)).toEqual([
    expect.stringContaining('its tokens are rejected until then'),
    'OpenID issuer is available again',
  ]);
  issuer.isDown = true;
  clock.advance(60_000);
  expect(await verify(issuer.token({}, makeIssuerKey('other')))).toBe(false);
  expect(await verify(issuer.token())).toBe(true);
});

it('an issuer that moves its keys is found by its discovery document', async () => {
  await open().ready;
  const rotated = makeIssuerKey('rotated');
  issuer.keys = [rotated];
  issuer.answers.set('/keys', (_request, response) => response.writeHead(404).end());
  issuer.answers.set(discoveryPath, (_request, response) =>
    response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/moved` })),
  );
  issuer.answers.set('/moved', (_request, response) => {
    issuer.answers.delete('/keys');
    response.writeHead(307, { location: '/keys' }).end();
  });
  clock.advance(60_000);
  expect(await verify(issuer.token({}, rotated))).toBe(false);
  clock.advance(60_000);
  expect(await verify(issuer.token({}, rotated))).toBe(true);
});

it.each<[string, string, (response: ServerResponse) => void, RegExp]>([
  [
    'a document of another issuer',
    discoveryPath,
    (response) => response.end('{"issuer":"https://evil.example"}'),
    /is not that of issuer/,
  ],
  ['a document without issuer', discoveryPath, (response) => response.end('{}'), /is not that of issuer/],
  ['a document that is a list', discoveryPath, (response) => response.end('[]'), /is not that of issuer/],
  ['a document that is no JSON', discoveryPath, (response) => response.end('<html>'), /JSON|json|invalid/],
  ['a document with __proto__', discoveryPath, (response) => response.end('{"__proto__":{}}'), /__proto__/],
  [
    'a document without jwks_uri',
    discoveryPath,
    (response) => response.end(JSON.stringify({ issuer: issuer.url })),
    /no jwks_uri/,
  ],
  [
    'a jwks_uri with http',
    discoveryPath,
    (response) => response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: 'http://127.0.0.1/' })),
    /not https/,
  ],
  [
    'a jwks_uri that is no URL',
    discoveryPath,
    (response) => response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: '/keys' })),
    /no jwks_uri/,
  ],
  ['an error 500', discoveryPath, (response) => response.writeHead(500).end('{}'), /answered 500/],
  [
    'a redirect to http',
    discoveryPath,
    (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    /not https/,
  ],
  [
    'a redirect without end',
    discoveryPath,
    (response) => response.writeHead(302, { location: discoveryPath }).end(),
    /more than 10 redirects/,
  ],
  [
    'a redirect to no URL',
    discoveryPath,
    (response) => response.writeHead(302, { location: 'https://[' }).end(),
    /Invalid URL/,
  ],
  ['a redirect without location', discoveryPath, (response) => response.writeHead(302).end(), /answered 302/],
  ['a connection that ends', discoveryPath, (response) => response.destroy(), /socket hang up|ECONNRESET/],
  [
    'an answer that is cut',
    discoveryPath,
    (response) => void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
    /aborted|ended/,
  ],
  ['10 MB of keys', '/keys', (response) => response.end(Buffer.alloc(10_000_000, ' ')), /more than 1048576 bytes/],
  ['an empty key set', '/keys', (response) => response.end('{"keys":[]}'), /no key that can verify/],
  ['keys that are garbage', '/keys', (response) => response.end(Buffer.from([0, 255, 254])), /JSON|json|invalid/],
])('%s is refused, and replaced later', async (_title, path, handler, message) => {
  issuer.answers.set(path, (_request, response) => handler(response));
  expect(await failureOf()).toMatch(message);
  issuer.answers.clear();
  clock.advance(10_000);
  await keys!.ready;
  expect(await verify(issuer.token())).toBe(true);
});

it('a server with a certificate of another CA is refused', async () => {
  const other = await OidcIssuer.start();
  await other.close();
  expect(await failureOf(issuerSource(issuer.url, other.ca))).toMatch(/certificate|signature/);
  expect(issuer.requests).toEqual([]);
});

it('a server that never answers ends after ten seconds', async () => {
  issuer.answers.set(discoveryPath, () => undefined);
  open();
  await eventually('the request has arrived', () => issuer.requests.length === 1);
  clock.advance(10_000);
  await eventually('the request ended', () => failures()[0]?.includes('no answer in 10 s') === true);
});

it('a body that never ends ends after ten seconds', async () => {
  issuer.answers.set(discoveryPath, (_request, response) => void response.writeHead(200).write('{"issuer":'));
  open();
  await eventually('the request has arrived', () => issuer.requests.length === 1);
  clock.advance(10_000);
  await eventually('the request ended', () => failures()[0]?.includes('no answer in 10 s') === true);
});

it('close() ends a fetch, without a log entry', async () => {
  issuer.answers.set(discoveryPath, () => undefined);
  open();
  await eventually('the request has arrived', () => issuer.requests.length === 1);
  keys!.close();
  await eventually('no timer is left', () => clock.pendingTimers === 0);
  expect(logged).toEqual([]);
});
