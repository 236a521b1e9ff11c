import { keyPem, makeAuthority, makeKey } from '../../certificates/authority.js';
import { keyPairProblem } from './key-pair.js';

const key = makeKey();
let certificate: string;
beforeAll(async () => void (certificate = await makeAuthority(key, Date.now())));

it('a matching pair has no problem', () => expect(keyPairProblem(certificate, keyPem(key))).toBeUndefined());

it.each<[string, () => [string, string], string]>([
  ['no certificate', () => ['x', keyPem(key)], 'tls: failed to find any PEM data in certificate input'],
  [
    'a key instead of a certificate',
    () => [keyPem(key), certificate],
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  ['no key', () => [certificate, 'x'], 'tls: failed to find any PEM data in key input'],
  [
    'a certificate instead of a key',
    () => [certificate, certificate],
    'tls: found a certificate rather than a key in the PEM for the private key',
  ],
  ['another key', () => [certificate, keyPem(makeKey())], 'tls: private key does not match public key'],
  [
    'a broken key',
    () => [certificate, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
    'tls: failed to parse private key',
  ],
  [
    'PEM blocks without an end',
    () => [certificate, '-----BEGIN PRIVATE KEY-----\n'.repeat(100_000)],
    'tls: failed to find any PEM data in key input',
  ],
])('problem of a pair with %s', (_case, pair, want) => expect(keyPairProblem(...pair())).toBe(want));
