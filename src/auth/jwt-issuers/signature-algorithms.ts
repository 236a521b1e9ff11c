import { constants, verify, type KeyObject } from 'node:crypto';

interface Scheme {
  readonly keyType: 'rsa' | 'ec';
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  /** Curve of an EC key, by OpenSSL's name. */
  readonly curve?: string;
  readonly isPss?: boolean;
}

/** Asymmetric signatures of RFC 7518, section 3.1. HS* and none are absent: a public key must never verify them. */
const schemes = {
  RS256: { keyType: 'rsa', hash: 'sha256' },
  RS384: { keyType: 'rsa', hash: 'sha384' },
  RS512: { keyType: 'rsa', hash: 'sha512' },
  PS256: { keyType: 'rsa', hash: 'sha256', isPss: true },
  PS384: { keyType: 'rsa', hash: 'sha384', isPss: true },
  PS512: { keyType: 'rsa', hash: 'sha512', isPss: true },
  ES256: { keyType: 'ec', hash: 'sha256', curve: 'prime256v1' },
  ES384: { keyType: 'ec', hash: 'sha384', curve: 'secp384r1' },
  ES512: { keyType: 'ec', hash: 'sha512', curve: 'secp521r1' },
} as const satisfies Record<string, Scheme>;

export type SignatureAlgorithm = keyof typeof schemes;

export const signatureAlgorithms = Object.keys(schemes) as readonly SignatureAlgorithm[];

export function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === 'string' && Object.hasOwn(schemes, name);
}

/** True if the key is of the type and curve that the algorithm needs. */
export function fits(key: KeyObject, algorithm: SignatureAlgorithm): boolean {
  const { keyType, curve }: Scheme = schemes[algorithm];
  return key.asymmetricKeyType === keyType && key.asymmetricKeyDetails?.namedCurve === curve;
}

/** True if the key verifies the signature. Only for keys that fit the algorithm. */
export function verifies(
  key: KeyObject,
  algorithm: SignatureAlgorithm,
  { content, signature }: { readonly content: string; readonly signature: Buffer },
): boolean {
  const { hash, isPss }: Scheme = schemes[algorithm];
  const options = isPss
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
    : { key, dsaEncoding: 'ieee-p1363' as const };
  try {
    return verify(hash, Buffer.from(content), options, signature);
  } catch {
    return false;
  }
}
