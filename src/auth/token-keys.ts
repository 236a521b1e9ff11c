import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { CertificateError, reasonOf } from '../certificates/certificate-error.js';
import { encodeJson } from '../codec/json.js';

/** Signature algorithm of a key: its JOSE name, and its hash for node:crypto. */
interface Algorithm {
  readonly name: 'RS256' | 'ES256' | 'ES384' | 'ES512';
  readonly hash: string;
}

/** Public key that verifies tokens. The id of a key from a file is its digest, so that all servers use the same id. */
export interface VerificationKey {
  readonly id: string;
  readonly algorithm: Algorithm['name'];
  readonly publicKey: KeyObject;
  /** False for keys that other programs do not get, since they sign no new tokens. */
  readonly isPublished: boolean;
}

/** Segments of a token, in base64url. */
export interface TokenSignature {
  readonly header: string;
  readonly signature: string;
}

/** Keys of service account tokens at one time: those of files, or of an external signer. */
export interface TokenKeys {
  /** Keys that verify tokens, including the signing key. */
  readonly verifying: readonly VerificationKey[];
  /** Time for which other programs may use the published keys without asking again. */
  readonly secondsFresh: number;
  /** Signs claims, which are the second segment of a token. */
  sign(claims: string): TokenSignature | Promise<TokenSignature>;
  /** Returns the newest keys. Called for tokens with the id of an unknown key; absent if there are no newer ones. */
  newest?(): Promise<readonly VerificationKey[]>;
}

/** A file in PEM, and its name for errors. */
export interface KeyFile {
  readonly name: string;
  readonly pem: string;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', hash: 'sha256' },
  secp384r1: { name: 'ES384', hash: 'sha384' },
  secp521r1: { name: 'ES512', hash: 'sha512' },
};

/** As in kube-apiserver. A new signing key should be published for this time before it signs. */
const secondsFresh = 3600;

/** Parses the signing key and further keys that verify tokens. Throws CertificateError, which names the file. */
export function makeTokenKeys(signingFile: KeyFile, verifyingFiles: readonly KeyFile[] = []): TokenKeys {
  const signing = signingKeyOf(signingFile);
  const others = verifyingFiles.flatMap(publicKeysOf);
  const distinct = new Map([signing.publicPart, ...others].map((key) => [key.id, key]));
  return { verifying: [...distinct.values()], secondsFresh, sign: signing.sign };
}

function signingKeyOf({ name, pem }: KeyFile) {
  return advised(name, 'no usable private key', () => {
    const privateKey = createPrivateKey(pem);
    const publicPart = verificationKey(createPublicKey(privateKey));
    const { hash } = algorithmOf(privateKey);
    const header = encodeJson({ alg: publicPart.algorithm, kid: publicPart.id }).toString('base64url');
    return {
      publicPart,
      sign: (claims: string): TokenSignature => {
        const bytes = Buffer.from(`${header}.${claims}`);
        const signature = sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' });
        return { header, signature: signature.toString('base64url') };
      },
    };
  });
}

/** Returns the public keys of all blocks of a file, of which there is at least one. */
export function publicKeysOf({ name, pem }: KeyFile): VerificationKey[] {
  const keys = advised(name, 'a damaged key', () => publicKeysIn(pem).map((key) => verificationKey(key)));
  if (keys.length === 0) throw new CertificateError(`${name} holds no public or private key in PEM`);
  return keys;
}

function advised<T>(name: string, problem: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CertificateError(`${name} holds ${problem}: ${reasonOf(error)}`, { cause: error });
  }
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
  return { id, algorithm: algorithmOf(publicKey).name, publicKey, isPublished: true };
}

/** Parses the key of an external signer, which chose its id. Throws for keys of other kinds. */
export function externalKey(id: string, der: Buffer, isPublished: boolean): VerificationKey {
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { id, algorithm: algorithmOf(publicKey).name, publicKey, isPublished };
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
