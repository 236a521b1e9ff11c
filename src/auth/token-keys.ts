import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/** Signature algorithm of a key: its JOSE name, and its hash for node:crypto. */
interface Algorithm {
  readonly name: 'RS256' | 'ES256' | 'ES384' | 'ES512';
  readonly hash: string;
}

/** Public key that verifies tokens. Its id is a digest of the key, so that all servers use the same id. */
interface VerificationKey {
  readonly id: string;
  readonly algorithm: Algorithm['name'];
  readonly publicKey: KeyObject;
}

export interface TokenKeys {
  readonly signing: VerificationKey;
  /** Keys that verify tokens, including the signing key. */
  readonly verifying: readonly VerificationKey[];
  sign(bytes: Buffer): Buffer;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', hash: 'sha256' },
  secp384r1: { name: 'ES384', hash: 'sha384' },
  secp521r1: { name: 'ES512', hash: 'sha512' },
};

/** Parses the signing key and further keys that verify tokens, from PEM. */
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

/** Returns the key as a JSON Web Key (RFC 7517). */
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
    throw new Error('a key for service account tokens must be an RSA key, or an EC key of P-256, P-384 or P-521');
  return found;
}

/** Returns the public keys of all PEM blocks: public and private keys, and certificates. */
function publicKeysIn(pem: string): KeyObject[] {
  return pemBlocks(pem)
    .filter((block) => !block.includes('EC PARAMETERS'))
    .map((block) => createPublicKey(block));
}

/** Returns the blocks of a text in PEM, from their heads to the next end. Takes linear time, also without any end. */
function pemBlocks(pem: string): string[] {
  const blocks: string[] = [];
  let head = '';
  let start = 0;
  for (const { 0: line, 1: boundary, 2: label, index } of pem.matchAll(/-----(BEGIN|END) ([^-]+)-----/g)) {
    if (boundary === 'BEGIN') [head, start] = [label!, index];
    else if (label === head) {
      blocks.push(pem.slice(start, index + line.length));
      head = '';
    }
  }
  return blocks;
}
