import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/** The algorithm that goes with a key, and how node:crypto makes its signatures. */
interface Algorithm {
  readonly name: 'RS256' | 'ES256' | 'ES384' | 'ES512';
  readonly hash: string;
}

/** A key that tokens are verified with; its id is a digest of it, so that every server calls it the same. */
export interface VerificationKey {
  readonly id: string;
  readonly algorithm: Algorithm['name'];
  readonly publicKey: KeyObject;
}

export interface TokenKeys {
  readonly signing: VerificationKey;
  /** All keys that tokens are accepted of, the signing one among them. */
  readonly verifying: readonly VerificationKey[];
  sign(bytes: Buffer): Buffer;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', hash: 'sha256' },
  secp384r1: { name: 'ES384', hash: 'sha384' },
  secp521r1: { name: 'ES512', hash: 'sha512' },
};

/** From PEM texts: the key that signs, and others whose tokens are still accepted. */
export function makeTokenKeys(signingPem: string, verifyingPems: readonly string[] = []): TokenKeys {
  const privateKey = createPrivateKey(signingPem);
  const signing = verificationKey(createPublicKey(privateKey));
  const others = verifyingPems.flatMap(publicKeysIn).map(verificationKey);
  const { hash } = algorithmOf(privateKey);
  return {
    signing,
    verifying: [signing, ...others.filter(({ id }) => id !== signing.id)],
    sign: (bytes) => sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  };
}

export function isSignedBy({ publicKey }: VerificationKey, bytes: Buffer, signature: Buffer): boolean {
  return verify(algorithmOf(publicKey).hash, bytes, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

/** A key as RFC 7517 writes it, for those who verify tokens themselves. */
export function jwkOf({ id, algorithm, publicKey }: VerificationKey) {
  const { kty, ...numbers } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, alg: algorithm, ...numbers };
}

function verificationKey(publicKey: KeyObject): VerificationKey {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest('base64url');
  return { id, algorithm: algorithmOf(publicKey).name, publicKey };
}

function algorithmOf(key: KeyObject): Algorithm {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RS256', hash: 'sha256' };
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const found = Object.hasOwn(algorithms, curve) ? algorithms[curve] : undefined;
  if (!found)
    throw new Error('a key for service account tokens must be one of RSA, or of the curves P-256, P-384, P-521');
  return found;
}

/** A file may hold several keys, public and private ones, and certificates. */
function publicKeysIn(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN ([^-]+)-----[\s\S]*?-----END \1-----/g) ?? [];
  return blocks.filter((block) => !block.includes('EC PARAMETERS')).map((block) => createPublicKey(block));
}
