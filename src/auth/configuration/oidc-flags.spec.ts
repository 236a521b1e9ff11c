import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noMappings } from '../../../test/harness/jwt-mappings.js';
import { makeAuthority, makeKey } from '../../certificates/authority.js';
import { defaultConfig, type ConfigOverrides } from '../../config/load-config.js';
import { jwtOfFlags } from './oidc-flags.js';

type Oidc = NonNullable<ConfigOverrides['authentication']>['oidc'];
const issuerUrl = 'https://issuer.example.com';
const read = (oidc: Oidc = {}) =>
  jwtOfFlags(defaultConfig({ authentication: { oidc: { issuerUrl, clientId: 'client', ...oidc } } }));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oidc-flags-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('without --oidc-* there is no issuer', async () => {
  expect(await jwtOfFlags(defaultConfig())).toBeUndefined();
});

it('the issuer has the defaults of kube-apiserver', async () => {
  expect(await read()).toEqual({
    issuer: {
      url: issuerUrl,
      discoveryUrl: `${issuerUrl}/.well-known/openid-configuration`,
      certificateAuthority: undefined,
    },
    audiences: ['client'],
    algorithms: new Set(['RS256']),
    username: { claim: 'sub', prefix: `${issuerUrl}#` },
    ...noMappings,
  });
});

it.each<[Oidc, object]>([
  [{ usernameClaim: 'name' }, { claim: 'name', prefix: `${issuerUrl}#` }],
  [{ usernameClaim: 'email' }, { claim: 'email', prefix: '' }],
  [
    { usernameClaim: 'email', usernamePrefix: 'oidc:' },
    { claim: 'email', prefix: 'oidc:' },
  ],
  [{ usernamePrefix: 'oidc:' }, { claim: 'sub', prefix: 'oidc:' }],
  [{ usernamePrefix: '-' }, { claim: 'sub', prefix: '' }],
])('the user name of %j is %j', async (oidc, username) => expect(await read(oidc)).toMatchObject({ username }));

it('groups have no prefix by default', async () => {
  expect(await read({ groupsClaim: 'g' })).toMatchObject({ groups: { claim: 'g', prefix: '' } });
  expect(await read({ groupsClaim: 'g', groupsPrefix: 'p:' })).toMatchObject({ groups: { claim: 'g', prefix: 'p:' } });
});

it('a required claim ends at its first equals sign', async () => {
  expect(await read({ requiredClaims: ['a=b=c', ' d = e '] })).toMatchObject({
    requiredClaims: [
      { claim: 'a', value: 'b=c' },
      { claim: 'd', value: 'e' },
    ],
  });
});

it('the CA is read from its file, which must have a certificate', async () => {
  const caFile = join(directory, 'ca.pem');
  const pem = await makeAuthority(makeKey(), Date.now());
  await writeFile(caFile, pem);
  expect(await read({ caFile })).toMatchObject({ issuer: { certificateAuthority: pem } });
  await writeFile(caFile, 'none');
  await expect(read({ caFile })).rejects.toThrow(/--oidc-ca-file: .*holds no PEM certificate/);
});

it('an issuer of service account tokens is refused', async () => {
  const [own] = defaultConfig().authentication.serviceAccount.issuers;
  await expect(read({ issuerUrl: own })).rejects.toThrow('must not be an issuer of service account tokens');
});
