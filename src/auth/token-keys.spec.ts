import { generateKeyPairSync } from 'node:crypto';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { makeTokenKeys, publicKeysOf } from './token-keys.js';

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicPem = () => String(keyPair().publicKey.export({ type: 'spki', format: 'pem' }));
const file = (name: string, pem: string) => ({ name, pem });
const signing = file('sa.key', String(keyPair().privateKey.export({ type: 'pkcs8', format: 'pem' })));
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
const [one, other] = [publicPem(), publicPem()];

it.each([
  ['two keys with text around them', `a comment\n${one}\nmore\n${other}end`, 3],
  ['the parameters of a curve before its key', parameters + one, 2],
  ['a private key', String(keyPair().privateKey.export({ type: 'sec1', format: 'pem' })), 2],
  ['a head without an end before a key', `-----BEGIN PUBLIC KEY-----\n${one}`, 2],
  ['an end without a head', `-----END PUBLIC KEY-----\n${one}`, 2],
])('verifying keys are read from a file with %s', (_name, pem, count) =>
  expect(makeTokenKeys(signing, [file('sa.pub', pem)]).verifying).toHaveLength(count),
);

it('a file of 3 MB of heads without an end is read in linear time', () => {
  const heads = file('sa.pub', '-----BEGIN PUBLIC KEY-----\n'.repeat(115_000));
  expect(
    cpuMsOf(() => expect(() => publicKeysOf(heads)).toThrow('sa.pub holds no public or private key')),
  ).toBeLessThan(300);
});

const small = String(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ type: 'spki', format: 'pem' })); // prettier-ignore
it.each([
  ['is empty', '', /^sa\.pub holds no public or private key in PEM$/],
  [
    'holds a damaged key',
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    /^sa\.pub holds a damaged key: /,
  ],
  ['holds a key of another curve', small, /^sa\.pub holds a damaged key: .*P-256, P-384 or P-521$/],
])('a key file that %s is an error that names it', (_name, pem, message) =>
  expect(() => makeTokenKeys(signing, [file('sa.pub', pem)])).toThrow(message),
);

it('the signing key is listed once if it is in a key file too', () => {
  expect(makeTokenKeys(signing, [signing, signing]).verifying).toHaveLength(1);
});

it('an error of a signing key does not contain it', () => {
  const broken = signing.pem.replace('\nM', '\nAAA');
  const error = (() => {
    try {
      return makeTokenKeys(file('sa.key', broken));
    } catch (thrown) {
      return String(thrown);
    }
  })();
  expect(error).toMatch(/sa\.key holds no usable private key/);
  expect(error).not.toContain(broken.split('\n')[1]!.slice(8, 40));
});
