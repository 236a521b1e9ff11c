import { decodeJson, encodeJson } from '../codec/json.js';
import { asFields, asText } from '../machinery/fields.js';
import { isSignedBy, type TokenKeys, type VerificationKey } from './token-keys.js';

// JSON Web Tokens in the compact serialization of RFC 7515: header.payload.signature, each in base64url.

export async function signJwt(payload: object, keys: TokenKeys): Promise<string> {
  const claims = encodeJson(payload).toString('base64url');
  const { header, signature } = await keys.sign(claims);
  return `${header}.${claims}.${signature}`;
}

/** Fields of a header that are read. As decoded: of any type. */
interface JwtHeader {
  readonly alg?: unknown;
  readonly kid?: unknown;
  readonly crit?: unknown;
}

/** Claims as decoded: of any type. Those of RFC 7519, section 4.1, and private ones. */
interface JwtPayload {
  readonly iss?: unknown;
  readonly sub?: unknown;
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
  readonly iat?: unknown;
  readonly jti?: unknown;
  readonly [claim: string]: unknown;
}

export interface Jwt {
  readonly header: JwtHeader;
  readonly payload: JwtPayload;
  readonly content: string;
  readonly signature: Buffer;
}

/** A token with a thousand groups has a fifth. Decoding 1 MiB would hold other requests up for 100 ms. */
const tokenLengthMax = 256 * 1024;

/** Parses a token without verifying it; undefined if the text is not a JWT. */
export function readJwt(token: string): Jwt | undefined {
  if (token.length > tokenLengthMax) return undefined;
  // The limit of 4 is enough to detect more than two dots.
  const segments = token.split('.', 4);
  if (segments.length !== 3 || segments.some((text) => !/^[A-Za-z0-9_-]+$/.test(text))) return undefined;
  try {
    return {
      header: asFields(decodeJson(Buffer.from(segments[0]!, 'base64url'))),
      payload: asFields(decodeJson(Buffer.from(segments[1]!, 'base64url'))),
      content: `${segments[0]}.${segments[1]}`,
      signature: Buffer.from(segments[2]!, 'base64url'),
    };
  } catch {
    return undefined;
  }
}

/** True if a key verifies the signature. The algorithm is determined by the key; that of the header must equal it. */
export async function isGenuine({ header, content, signature }: Jwt, keys: TokenKeys): Promise<boolean> {
  const id = asText(header.kid);
  let named = keysNamed(id, keys.verifying);
  if (named.length === 0 && keys.newest) named = keysNamed(id, await keys.newest());
  const bytes = Buffer.from(content);
  return named.some((key) => key.algorithm === header.alg && isSignedBy(key, bytes, signature));
}

/** Returns the keys with the id; all keys for a token that names none. */
function keysNamed(id: string, keys: readonly VerificationKey[]): readonly VerificationKey[] {
  return id === '' ? keys : keys.filter((key) => key.id === id);
}
