import { createHmac } from 'node:crypto';
import { encodeJson } from '../../codec/json.js';

/** The payload of a JSON Web Signature: the bytes of the content in base64url. */
export function jwsPayload(content: string): Buffer {
  return Buffer.from(Buffer.from(content, 'utf8').toString('base64url'), 'latin1');
}

/**
 * Signs with HS256 and returns the compact serialization of RFC 7515 without its payload, which the verifier has:
 * `header..signature`.
 */
export function detachedJws(payload: Buffer, keyId: string, key: Buffer): string {
  const header = encodeJson({ alg: 'HS256', kid: keyId }).toString('base64url');
  // In parts, since a joined text would copy the payload for each key.
  const hmac = createHmac('sha256', key).update(`${header}.`).update(payload);
  return `${header}..${hmac.digest('base64url')}`;
}
