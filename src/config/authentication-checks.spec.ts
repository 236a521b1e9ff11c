import { loadConfig } from './load-config.js';

const load = (words: readonly string[]) => loadConfig(words, {}, { defaults: 'keelson' });
const issuer = '--service-account-issuer=https://a.example.com';
const proxyCa = '--requestheader-client-ca-file=ca';
const user = '--requestheader-username-headers=X-Remote-User';
const endpoint = '--service-account-signing-endpoint=/run/signer.sock';

/** Combinations that fail the start. Every message names the flags that have to change. */
test.each<[string, readonly string[], string]>([
  [
    'a signing endpoint and a signing key',
    [endpoint, '--service-account-signing-key-file=k'],
    '--service-account-signing-endpoint, --service-account-signing-key-file: cannot be given together; the endpoint signs all tokens',
  ],
  [
    'a signing endpoint and the alias of the signing key',
    [endpoint, '--service-account-private-key-file=k'],
    '--service-account-signing-endpoint, --service-account-signing-key-file: cannot be given together; the endpoint signs all tokens',
  ],
  [
    'a signing endpoint and key files',
    [endpoint, '--service-account-key-file=k'],
    '--service-account-signing-endpoint, --service-account-key-file: cannot be given together; the endpoint names all public keys',
  ],
  [
    'a signing endpoint without its feature gate',
    [endpoint, '--feature-gates=ExternalServiceAccountTokenSigner=false'],
    '--service-account-signing-endpoint, --feature-gates: the first requires ExternalServiceAccountTokenSigner=true',
  ],
  [
    'an abstract socket with an invalid name',
    ['--service-account-signing-endpoint=@a/b'],
    '--service-account-signing-endpoint: "@a/b" is not the name of an abstract socket',
  ],
  [
    'audiences without an issuer',
    ['--api-audiences=a'],
    '--api-audiences, --service-account-issuer: give the issuer too, whose tokens the audiences restrict',
  ],
  [
    'extended tokens without an issuer',
    ['--service-account-extend-token-expiration'],
    '--service-account-extend-token-expiration, --service-account-issuer: give the issuer too, whose tokens are extended',
  ],
  [
    'an issuer that is given twice',
    [issuer, '--service-account-issuer=b', issuer],
    '--service-account-issuer: "https://a.example.com" is given twice',
  ],
  [
    'an issuer with a colon that is not a URL',
    ['--service-account-issuer=://a'],
    '--service-account-issuer: "://a" contains ":" and is not a URL',
  ],
  [
    'keys at a URL without TLS',
    [issuer, '--service-account-jwks-uri=http://a.example.com/keys'],
    '--service-account-jwks-uri: "http://a.example.com/keys" must be an https URL',
  ],
  [
    'keys at a text that is not a URL',
    [issuer, '--service-account-jwks-uri=keys'],
    '--service-account-jwks-uri: "keys" must be an https URL',
  ],
  [
    'tokens of less than an hour',
    ['--service-account-max-token-expiration=59m59s'],
    '--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds',
  ],
  [
    'tokens of more than 2^32 seconds',
    ['--service-account-max-token-expiration=1193047h'],
    '--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds',
  ],
  ...(['allowed-names', 'group-headers', 'extra-headers-prefix'] as const).map(
    (name): [string, readonly string[], string] => [
      `--requestheader-${name} without a CA`,
      [`--requestheader-${name}=X-Remote-Any`],
      `--requestheader-${name}, --requestheader-client-ca-file: the first has no effect without the second`,
    ],
  ),
  [
    'uid headers without a CA',
    ['--requestheader-uid-headers=X-Remote-Uid'],
    '--requestheader-uid-headers, --requestheader-client-ca-file: the first has no effect without the second',
  ],
  [
    'user name headers without a CA',
    [user],
    '--requestheader-client-ca-file, --requestheader-username-headers: give both or neither',
  ],
  [
    'a CA of proxies without user name headers',
    [proxyCa],
    '--requestheader-client-ca-file, --requestheader-username-headers: give both or neither',
  ],
  [
    'uid headers without the one of aggregated API servers',
    [proxyCa, user, '--requestheader-uid-headers=X-Uid'],
    '--requestheader-uid-headers: must contain X-Remote-Uid, which aggregated API servers read',
  ],
  [
    'uid headers without their feature gate',
    [proxyCa, user, '--requestheader-uid-headers=X-Remote-Uid', '--feature-gates=RemoteRequestHeaderUID=false'],
    '--requestheader-uid-headers, --feature-gates: the first requires RemoteRequestHeaderUID=true',
  ],
])('%s is an error', (_name, words, error) => {
  expect(load(words)).toEqual({ errors: [error] });
});

test.each<[string, readonly string[]]>([
  ['a signing endpoint', [endpoint, issuer]],
  ['an abstract socket', ['--service-account-signing-endpoint=@signer.v1-a_b']],
  ['audiences and an issuer', ['--api-audiences=a,b', issuer]],
  ['an issuer that is not a URL', ['--service-account-issuer=cluster-7']],
  ['no extension of tokens', ['--service-account-extend-token-expiration=false']],
  ['keys of an issuer', [issuer, '--service-account-jwks-uri=https://a.example.com/keys']],
  ['tokens of a year', ['--service-account-max-token-expiration=8760h']],
  [
    'a proxy with all headers',
    [
      ...[proxyCa, user, '--requestheader-allowed-names=front', '--requestheader-uid-headers=x-remote-uid'],
      ...['--requestheader-group-headers=X-Remote-Group', '--requestheader-extra-headers-prefix=X-Remote-Extra-'],
    ],
  ],
])('%s is accepted without a warning', (_name, words) => {
  expect(load(words)).toMatchObject({ warnings: [] });
});

test.each<[string, RegExp | undefined]>([
  ['1h', /below the 3607 seconds that the kubelet requests/],
  ['2h', /does not limit tokens of Pods, which --service-account-extend-token-expiration makes valid for a year/],
])('a maximum of %s with extended tokens causes a warning', (max, message) => {
  const words = [`--service-account-max-token-expiration=${max}`];
  expect(load(words)).toMatchObject({ warnings: [{ message: expect.stringMatching(message!) as unknown }] });
  expect(load([...words, '--service-account-extend-token-expiration=false'])).toMatchObject({ warnings: [] });
});

test('the audiences are all issuers by default', () => {
  const result = load([issuer, '--service-account-issuer=https://old.example.com']);
  expect(result).toMatchObject({
    config: { authentication: { apiAudiences: ['https://a.example.com', 'https://old.example.com'] } },
  });
});
