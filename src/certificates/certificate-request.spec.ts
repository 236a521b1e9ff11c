import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { parseCertificateRequest } from './certificate-request.js';
import { loadX509 } from './issue-certificate.js';
import { pemBlocks } from './pem-blocks.js';

type Algorithm = Parameters<typeof webcrypto.subtle.generateKey>[0];
const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };

async function request(algorithm: Algorithm, signing: object): Promise<Buffer> {
  const x509 = await loadX509();
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const made = await x509.Pkcs10CertificateRequestGenerator.create(
    { name: 'CN=x, O=y', keys, signingAlgorithm: { ...(algorithm as object), ...signing } as Algorithm },
    webcrypto as Parameters<typeof x509.Pkcs10CertificateRequestGenerator.create>[1],
  );
  return Buffer.from(made.rawData);
}

it.each<[string, Algorithm, object]>([
  ['ec', { name: 'ECDSA', namedCurve: 'P-256' } as Algorithm, { hash: 'SHA-256' }],
  ['ec', { name: 'ECDSA', namedCurve: 'P-384' } as Algorithm, { hash: 'SHA-384' }],
  ['rsa', { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', ...rsa } as Algorithm, {}],
  ['ed25519', { name: 'Ed25519' }, {}],
])('parses a request signed with %s (%#)', async (type, algorithm, signing) => {
  const bytes = await request(algorithm, signing);
  const { publicKey, isSigned } = parseCertificateRequest(bytes);
  expect(publicKey?.asymmetricKeyType).toBe(type);
  expect(isSigned()).toBe(true);
  const forged = Buffer.from(bytes);
  const at = forged.indexOf('x', forged.indexOf(Buffer.from('550403', 'hex')));
  forged[at] = 'z'.charCodeAt(0);
  expect(parseCertificateRequest(forged).isSigned()).toBe(false);
});

it.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['no DER', Buffer.from('hello')],
  ['a key', generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' })],
  ['a length that lies', Buffer.from('3082ffff', 'hex')],
])('%s is rejected as malformed', (_name, bytes) => expect(() => parseCertificateRequest(bytes)).toThrow(/malformed/));

it.each<[string, string, unknown[]]>([
  ['nothing', 'no block', []],
  ['one among words', 'a\n-----BEGIN X-----\nYQ==\n-----END X-----\nb', [['X', false, 'a']]],
  [
    'two',
    '-----BEGIN X-----\nYQ==\n-----END X-----\n-----BEGIN Y Z-----\nYg==\n-----END Y Z-----\n',
    [
      ['X', false, 'a'],
      ['Y Z', false, 'b'],
    ],
  ],
  ['headers', '-----BEGIN X-----\nA: b\nC: d\n\nYQ==\n-----END X-----', [['X', true, 'a']]],
  ['an end of another', '-----BEGIN X-----\nYQ==\n-----END Y-----', []],
  ['no base64', '-----BEGIN X-----\n***\n-----END X-----', []],
])('PEM with %s', (_name, text, want) =>
  expect(pemBlocks(text).map(({ type, hasHeaders, bytes }) => [type, hasHeaders, bytes.toString()])).toEqual(want),
);
