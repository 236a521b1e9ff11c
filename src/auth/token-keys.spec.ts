import { generateKeyPairSync } from 'node:crypto';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { makeTokenKeys } from './token-keys.js';

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicPem = () => String(keyPair().publicKey.export({ type: 'spki', format: 'pem' }));
const signing = String(keyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }));
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
const [one, other] = [publicPem(), publicPem()];

it.each([
  ['no key', '', 1],
  ['two keys with text around them', `a comment\n${one}\nmore\n${other}end`, 3],
  ['the parameters of a curve before its key', parameters + one, 2],
  ['a private key', String(keyPair().privateKey.export({ type: 'sec1', format: 'pem' })), 2],
  ['a head without an end before a key', `-----BEGIN PUBLIC KEY-----\n${one}`, 2],
  ['an end without a head', `-----END PUBLIC KEY-----\n${one}`, 2],
])('verifying keys are read from a file with %s', (_name, pem, count) =>
  expect(makeTokenKeys(signing, [pem]).verifying).toHaveLength(count),
);

it('a file of 3 MB of heads without an end is read in linear time', () => {
  const pem = '-----BEGIN PUBLIC KEY-----\n'.repeat(115_000);
  expect(cpuMsOf(() => makeTokenKeys(signing, [pem]))).toBeLessThan(300);
});
