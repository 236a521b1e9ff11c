import { noMappings } from '../../../test/harness/jwt-mappings.js';
import { eventually } from '../../../test/harness/eventually.js';
import { makeIssuerKey, OidcIssuer } from '../../../test/harness/oidc-issuer.js';
import { ManualClock } from '../../std/clock.js';
import { isAuthenticated, type Authenticated } from '../authenticator.js';
import type { JwtConfiguration } from '../configuration/jwt-configuration.js';
import { issuerSource } from '../configuration/jwt-list.js';
import { JwtIssuers } from './jwt-issuers.js';
import { signatureAlgorithms } from './signature-algorithms.js';

let clock: ManualClock;
let issuers: JwtIssuers;
let logged: [message: string, fields: Record<string, unknown>][];
let counted: string[];
const open: OidcIssuer[] = [];
beforeEach(() => {
  clock = new ManualClock(Date.now());
  logged = [];
  counted = [];
  const log = (message: string, fields: Record<string, unknown> = {}) => void logged.push([message, fields]);
  const count = (what: string) => void counted.push(what);
  issuers = new JwtIssuers({
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
    meters: {
      nowMs: 0,
      tokenChecked: (_issuer, result) => count(`token ${result}`),
      keysFetched: (_issuer, body) => count(`keys ${body ? 'success' : 'failure'}`),
      issuerRemoved: () => count('removed'),
      configurationUsed: (text) => count(`used ${text}`),
      configurationReloaded: (result) => count(`reload ${result}`),
    },
    labelDomain: 'kubernetes.io',
  });
});
afterEach(async () => {
  issuers.close();
  for (const one of open.splice(0)) await one.close();
});

async function startIssuer(): Promise<OidcIssuer> {
  const issuer = await OidcIssuer.start();
  open.push(issuer);
  return issuer;
}

const configurationOf = (issuer: OidcIssuer, prefix = ''): JwtConfiguration => ({
  issuer: issuerSource(issuer.url, issuer.ca),
  audiences: ['keelson'],
  algorithms: new Set(signatureAlgorithms),
  username: { claim: 'sub', prefix },
  ...noMappings,
});
const file = (text: string, ...jwt: JwtConfiguration[]) => ({ jwt, text });
async function resultOf(issuer: OidcIssuer, claims: Readonly<Record<string, unknown>> = {}): Promise<Authenticated> {
  const result = await issuers.authenticate(issuer.token(claims));
  if (!isAuthenticated(result)) throw new Error(`not authenticated: ${JSON.stringify(result)}`);
  return result;
}
const isAccepted = async (issuer: OidcIssuer) => isAuthenticated(await issuers.authenticate(issuer.token()));
const acceptance = (issuer: OidcIssuer) => eventually('tokens are accepted', () => isAccepted(issuer));
const reloads = () => counted.filter((one) => one.startsWith('reload'));

it('a remembered result ends at its expiration, and with a change of the configuration', async () => {
  const issuer = await startIssuer();
  issuers.start(file('1', configurationOf(issuer)));
  await acceptance(issuer);
  const { user, isStillValid } = await resultOf(issuer, { exp: clock.now() / 1000 + 60 });
  expect(user).toEqual({ name: 'ali', uid: '', groups: ['system:authenticated'], extra: {} });
  expect(isStillValid!()).toBe(true);
  clock.advance(60_000);
  expect(isStillValid!()).toBe(false);
  const before = await resultOf(issuer);
  issuers.change(file('2', configurationOf(issuer, 'x:')));
  expect(before.isStillValid!()).toBe(false);
  expect((await resultOf(issuer)).user.name).toBe('x:ali');
  expect(reloads()).toEqual(['reload success']);
  expect(issuer.countOf('/keys')).toBe(1);
});

it('the anonymous user name does not get the group of authenticated users', async () => {
  const issuer = await startIssuer();
  issuers.start(file('1', configurationOf(issuer, 'system:')));
  await acceptance(issuer);
  expect((await resultOf(issuer, { sub: 'anonymous' })).user.groups).toEqual([]);
});

it('a removed issuer is unknown at once', async () => {
  const [one, other] = [await startIssuer(), await startIssuer()];
  issuers.start(file('1', configurationOf(one), configurationOf(other)));
  await acceptance(one);
  await acceptance(other);
  const remembered = await resultOf(other);
  issuers.change(file('2', configurationOf(one)));
  expect(remembered.isStillValid!()).toBe(false);
  expect(issuers.authenticate(other.token())).toBeUndefined();
  expect(await isAccepted(one)).toBe(true);
  issuers.change(file('3'));
  expect(issuers.authenticate(one.token())).toBeUndefined();
  expect(counted.filter((what) => what === 'removed')).toHaveLength(2);
});

it('a change waits for new issuers, and is counted as failed after each minute', async () => {
  const [old, next] = [await startIssuer(), await startIssuer()];
  issuers.start(file('1', configurationOf(old)));
  await acceptance(old);
  next.isDown = true;
  issuers.change(file('2', configurationOf(next)));
  expect(await isAccepted(old)).toBe(true);
  await eventually('the new issuer was asked', () => logged.length > 0);
  for (let minute = 1; minute <= 2; minute++) {
    clock.advance(60_000);
    await eventually('the failure is counted', () => reloads().length === minute);
  }
  expect(reloads()).toEqual(['reload failure', 'reload failure']);
  expect(logged).toContainEqual([
    'the changed authentication configuration waits for the keys of new issuers, check their servers; the old one stays in use',
    { issuers: [next.url] },
  ]);
  expect(await isAccepted(old)).toBe(true);
  next.isDown = false;
  await eventually('the new issuer is used', async () => {
    clock.advance(10_000);
    return isAccepted(next);
  });
  expect(issuers.authenticate(old.token())).toBeUndefined();
  expect(reloads().at(-1)).toBe('reload success');
  expect(counted).toContain('used 2');
});

it('a change that is replaced while it waits has no effect, and its issuers are not asked any more', async () => {
  const [old, never] = [await startIssuer(), await startIssuer()];
  issuers.start(file('1', configurationOf(old)));
  await acceptance(old);
  never.isDown = true;
  issuers.change(file('2', configurationOf(never)));
  issuers.change(file('3', configurationOf(old, 'x:')));
  expect((await resultOf(old)).user.name).toBe('x:ali');
  never.isDown = false;
  clock.advance(600_000);
  await acceptance(old);
  expect(never.requests).toEqual([]);
  expect(issuers.authenticate(never.token())).toBeUndefined();
  expect(reloads()).toEqual(['reload success']);
});

it('a change does not wait for an issuer that has never been available', async () => {
  const [up, down] = [await startIssuer(), await startIssuer()];
  down.isDown = true;
  issuers.start(file('1', configurationOf(up), configurationOf(down)));
  await acceptance(up);
  issuers.change(file('2', configurationOf(up, 'x:'), configurationOf(down)));
  expect((await resultOf(up)).user.name).toBe('x:ali');
});

it('an issuer with another CA gets new keys, while the old ones are used', async () => {
  const issuer = await startIssuer();
  issuers.start(file('1', configurationOf(issuer)));
  await acceptance(issuer);
  const { issuer: source, ...rest } = configurationOf(issuer, 'x:');
  issuers.change(file('2', { ...rest, issuer: { ...source, certificateAuthority: `${issuer.ca}\n` } }));
  expect((await resultOf(issuer)).user.name).toBe('ali');
  await eventually('the change is applied', async () => (await resultOf(issuer)).user.name === 'x:ali');
  expect(issuer.countOf('/keys')).toBe(2);
});

it('rejected tokens are logged once a minute for each kind, without claims', async () => {
  const issuer = await startIssuer();
  issuers.start(file('1', configurationOf(issuer)));
  await acceptance(issuer);
  const reject = async (claims: Readonly<Record<string, unknown>>) => {
    expect(await issuers.authenticate(issuer.token(claims))).toMatchObject({
      rejected: expect.stringMatching(/^oidc: /),
    });
  };
  logged = [];
  for (let count = 0; count < 10; count++) await reject({ exp: 1, sub: 'secret' });
  await reject({ aud: 'secret' });
  clock.advance(60_000);
  await reject({ exp: 1, sub: 'secret' });
  expect(logged.map(([, fields]) => fields)).toEqual([
    { issuer: issuer.url, reason: 'the token has expired', tokens: 1 },
    { issuer: issuer.url, reason: expect.stringContaining('audiences'), tokens: 1 },
    { issuer: issuer.url, reason: 'the token has expired', tokens: 10 },
  ]);
  expect(JSON.stringify(logged)).not.toContain('secret');
});

it('tokens of Google may omit the scheme of the issuer; those of others may not', async () => {
  const issuer = await startIssuer();
  const source = issuerSource(
    'https://accounts.google.com',
    issuer.ca,
    `${issuer.url}/.well-known/openid-configuration`,
  );
  issuers.start(file('1', { ...configurationOf(issuer), issuer: source }));
  const rejected = { rejected: 'oidc: the keys of the issuer have not been fetched yet' };
  expect(await issuers.authenticate(issuer.token({ iss: 'accounts.google.com' }))).toEqual(rejected);
  expect(issuers.authenticate(issuer.token({ iss: 'https://accounts.google.com/' }))).toBeUndefined();
  const noScheme = { ...configurationOf(issuer), issuer: issuerSource(issuer.url, issuer.ca) };
  issuers.change(file('2', noScheme));
  expect(issuers.authenticate(issuer.token({ iss: issuer.url.replace('https://', '') }))).toBeUndefined();
});

it('texts that are no tokens of an issuer are left to other authenticators, without a fetch', async () => {
  const issuer = await startIssuer();
  issuers.start(file('1', configurationOf(issuer)));
  await acceptance(issuer);
  clock.advance(60_000);
  const foreign = makeIssuerKey('x');
  for (const text of [
    '',
    'a',
    'a.b.c',
    '..',
    `${issuer.token()}.x`,
    issuer.token({ iss: 'https://x' }, foreign),
    issuer.token({ a: 'x'.repeat(65_536) }),
  ]) {
    expect(issuers.authenticate(text)).toBeUndefined();
  }
  expect(issuer.requests).toHaveLength(2);
});

it('nothing runs after close()', async () => {
  const issuer = await startIssuer();
  issuer.isDown = true;
  issuers.start(file('1', configurationOf(issuer)));
  issuers.change(file('2', configurationOf(await startIssuer()), configurationOf(issuer)));
  issuers.close();
  await eventually('no timer is left', () => clock.pendingTimers === 0);
  expect(reloads()).toEqual([]);
});
