import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { makeIssuerKey, publicJwk, signToken, type Algorithm } from '../../../test/harness/oidc-issuer.js';
import { readJwt } from '../jwt.js';
import { KeySet } from './key-set.js';
import { isSignatureAlgorithm, signatureAlgorithms, type SignatureAlgorithm } from './signature-algorithms.js';

const setOf = (...keys: unknown[]) => KeySet.parse(Buffer.from(JSON.stringify({ keys })));
const algorithms: readonly Algorithm[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
];
const rsa = makeIssuerKey('rsa', 'RS256');
const ec = makeIssuerKey('ec', 'ES256');

describe('a key set', () => {
  it.each(algorithms)('verifies %s, and no changed content or signature', (algorithm) => {
    const key = makeIssuerKey('k', algorithm);
    const keys = setOf(publicJwk(key));
    const jwt = readJwt(signToken({ sub: 'a' }, key))!;
    expect(keys.verify(jwt, algorithm)).toBe(true);
    expect(keys.verify({ ...jwt, content: `${jwt.content}A` }, algorithm)).toBe(false);
    const broken = Buffer.from(jwt.signature);
    broken[5]! ^= 1;
    expect(keys.verify({ ...jwt, signature: broken }, algorithm)).toBe(false);
    for (const signature of [Buffer.alloc(0), Buffer.alloc(64), jwt.signature.subarray(1), Buffer.alloc(5_000, 1)]) {
      expect(keys.verify({ ...jwt, signature }, algorithm)).toBe(false);
    }
    for (const other of algorithms)
      if (other !== algorithm) expect([other, keys.verify(jwt, other)]).toEqual([other, false]);
  });

  it('signature algorithms are asymmetric ones only', () => {
    expect([...signatureAlgorithms].sort()).toEqual([...algorithms].sort());
    for (const name of ['none', 'HS256', 'EdDSA', 'constructor', '__proto__', '', null, 5]) {
      expect(isSignatureAlgorithm(name)).toBe(false);
    }
  });

  it('a token without kid is tried with every key that fits; one with kid only with keys of that id', () => {
    const keys = setOf(publicJwk(makeIssuerKey('a')), publicJwk(rsa), publicJwk(ec));
    const verify = (header: object, id = 'ec') =>
      keys.verify(readJwt(signToken({}, { ...ec, id }, header))!, 'ES256' satisfies SignatureAlgorithm);
    expect(verify({ alg: 'ES256' })).toBe(true);
    expect(verify({ alg: 'ES256', kid: '' })).toBe(true);
    expect(verify({ alg: 'ES256', kid: 'ec' })).toBe(true);
    expect(verify({ alg: 'ES256', kid: 'a' })).toBe(false);
    expect(verify({ alg: 'ES256', kid: 'none' })).toBe(false);
  });

  it('a key declared for another algorithm or for encryption does not verify', () => {
    const token = readJwt(signToken({}, rsa))!;
    expect(setOf({ ...publicJwk(rsa), alg: undefined }).verify(token, 'RS256')).toBe(true);
    expect(setOf({ ...publicJwk(rsa), alg: 'RS512' }).verify(token, 'RS256')).toBe(false);
    expect(() => setOf({ ...publicJwk(rsa), use: 'enc' })).toThrow('no key that can verify');
    expect(() => setOf({ ...publicJwk(rsa), alg: 'RSA-OAEP' })).toThrow('no key that can verify');
  });

  it('at most eight keys are tried for a token', () => {
    const others = Array.from({ length: 8 }, () => publicJwk(makeIssuerKey('other')));
    const token = readJwt(signToken({}, ec, { alg: 'ES256' }))!;
    expect(setOf(...others.slice(1), publicJwk(ec)).verify(token, 'ES256')).toBe(true);
    expect(setOf(...others, publicJwk(ec)).verify(token, 'ES256')).toBe(false);
  });

  it('keys that cannot verify are left out', () => {
    const short = createPublicKey(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey).export({
      format: 'jwk',
    });
    const useless = [
      ...[null, 'a', 5, [], {}, { kty: 'oct', k: 'AAAA' }, { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
      ...[
        { kty: 'RSA' },
        { kty: 'RSA', n: 5, e: {} },
        { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
        { kty: 'EC', crv: 'P-192' },
        short,
      ],
    ];
    expect(() => setOf(...useless)).toThrow('no key that can verify');
    expect(setOf(...useless, publicJwk(ec)).verify(readJwt(signToken({}, ec))!, 'ES256')).toBe(true);
  });

  it.each([
    ['{', /JSON|json|unexpected/],
    ['[]', /no list of keys/],
    ['{"keys": {}}', /no list of keys/],
    ['{"keys": []}', /no key that can verify/],
    ['{"__proto__": {"keys": []}}', /__proto__/],
    [`{"keys": [${Array(257).fill('{}').join()}]}`, /more than 256 keys/],
    [`{"keys": ${'['.repeat(5000)}${']'.repeat(5000)}}`, /max depth/],
  ])('%.20s is refused', (text, message) => expect(() => KeySet.parse(Buffer.from(text))).toThrow(message));
});
