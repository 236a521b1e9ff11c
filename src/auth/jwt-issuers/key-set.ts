import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { decodeJson } from '../../codec/json.js';
import { isMapping } from '../../machinery/config-reader.js';
import type { Jwt } from '../jwt.js';
import { fits, isSignatureAlgorithm, verifies, type SignatureAlgorithm } from './signature-algorithms.js';

/** Keys that are tried for one token, which bounds its cost: tokens without `kid`, and issuers that reuse one. */
const candidatesMax = 8;
const keysMax = 256;
/** Minimum of RFC 7518, section 3.3. */
const rsaBitsMin = 2048;

interface IssuerKey {
  readonly id: string | undefined;
  /** Algorithm that the set declares for the key; any that fits if undefined. */
  readonly algorithm: SignatureAlgorithm | undefined;
  readonly key: KeyObject;
}

/** Fields of a JSON Web Key that are read (RFC 7517, RFC 7518), as decoded. Private numbers are never read. */
interface EncodedKey {
  readonly kty?: unknown;
  readonly kid?: unknown;
  readonly use?: unknown;
  readonly alg?: unknown;
  readonly n?: unknown;
  readonly e?: unknown;
  readonly crv?: unknown;
  readonly x?: unknown;
  readonly y?: unknown;
}

/** The public keys of an issuer that can verify signatures. */
export class KeySet {
  private constructor(private readonly keys: readonly IssuerKey[]) {}

  /** Parses a JSON Web Key Set. Keys of other types, for encryption, and damaged ones are left out. */
  static parse(body: Buffer): KeySet {
    const set: { readonly keys?: unknown } = mappingOf(decodeJson(body));
    if (!Array.isArray(set.keys)) throw new Error('the key set has no list of keys');
    if (set.keys.length > keysMax) throw new Error(`the key set has more than ${keysMax} keys`);
    const keys = set.keys.flatMap((encoded: unknown) => parseKey(mappingOf(encoded)) ?? []);
    if (keys.length === 0) throw new Error('the key set has no key that can verify signatures');
    return new KeySet(keys);
  }

  verify({ header, content, signature }: Pick<Jwt, 'header' | 'content' | 'signature'>, algorithm: SignatureAlgorithm) {
    const id = header.kid === '' ? undefined : header.kid;
    const candidates: IssuerKey[] = [];
    for (const one of this.keys) {
      if (id !== undefined && one.id !== id) continue;
      if ((one.algorithm ?? algorithm) !== algorithm || !fits(one.key, algorithm)) continue;
      if (candidates.push(one) === candidatesMax) break;
    }
    return candidates.some(({ key }) => verifies(key, algorithm, { content, signature }));
  }
}

function parseKey({ kty, kid, use, alg, n, e, crv, x, y }: EncodedKey): IssuerKey | undefined {
  if (use !== undefined && use !== 'sig') return undefined;
  if (kty !== 'RSA' && kty !== 'EC') return undefined;
  if (alg !== undefined && !isSignatureAlgorithm(alg)) return undefined;
  const numbers = kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y };
  try {
    const key = createPublicKey({ key: numbers as JsonWebKey, format: 'jwk' });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    if (bits !== undefined && bits < rsaBitsMin) return undefined;
    return { id: typeof kid === 'string' ? kid : undefined, algorithm: alg, key };
  } catch {
    return undefined;
  }
}

const mappingOf = (value: unknown): Readonly<Record<string, unknown>> => (isMapping(value) ? value : {});
