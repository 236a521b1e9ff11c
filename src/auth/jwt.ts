import { decodeJson, encodeJson } from '../codec/json.js';
import { asFields, asText, type Fields } from '../machinery/fields.js';
import { isSignedBy, type TokenKeys } from './token-keys.js';

// JSON Web Tokens as RFC 7515 has them in their compact form: header.payload.signature, each in base64url.

export function signJwt(payload: object, keys: TokenKeys): string {
  const header = { alg: keys.signing.algorithm, kid: keys.signing.id };
  const content = `${segment(header)}.${segment(payload)}`;
  return `${content}.${keys.sign(Buffer.from(content)).toString('base64url')}`;
}

export interface Jwt {
  readonly header: Fields;
  readonly payload: Fields;
  readonly content: string;
  readonly signature: Buffer;
}

/** No header can carry a longer one; a TokenReview could. */
const tokenLengthMax = 1024 * 1024;

/** What a token says, believed or not; undefined when the text is no token at all. */
export function readJwt(token: string): Jwt | undefined {
  if (token.length > tokenLengthMax) return undefined;
  // Of a text with more dots no more is read than shows it.
  const parts = token.split('.', 4);
  if (parts.length !== 3 || parts.some((part) => !/^[A-Za-z0-9_-]+$/.test(part))) return undefined;
  try {
    return {
      header: asFields(decodeJson(Buffer.from(parts[0]!, 'base64url'))),
      payload: asFields(decodeJson(Buffer.from(parts[1]!, 'base64url'))),
      content: `${parts[0]}.${parts[1]}`,
      signature: Buffer.from(parts[2]!, 'base64url'),
    };
  } catch {
    return undefined;
  }
}

/** The algorithm is the key's own: what the header says must agree, and never chooses. */
export function isGenuine({ header, content, signature }: Jwt, keys: TokenKeys): boolean {
  const id = asText(header['kid']);
  return keys.verifying
    .filter((key) => (id === '' || key.id === id) && key.algorithm === header['alg'])
    .some((key) => isSignedBy(key, Buffer.from(content), signature));
}

function segment(value: object): string {
  return encodeJson(value).toString('base64url');
}
