import type { Secret } from '../../catalog/types/core.v1.js';
import { bootstrapTokenEndMs, bootstrapTokenIdOf, secretText } from '../../auth/bootstrap-tokens.js';
import type { SignerKey } from '../../config/flags/cluster.js';

/** A bootstrap token that signs cluster-info until its end. */
export interface SigningToken {
  readonly id: string;
  readonly secret: Buffer;
  readonly endMs: number;
}

/** Returns the token in a Secret of the type of bootstrap tokens; undefined if it cannot be used for signing. */
export function signingTokenOf(secret: Secret): SigningToken | undefined {
  const id = bootstrapTokenIdOf(secret.metadata.name ?? '');
  if (id === undefined || secretText(secret, 'token-id') !== id) return undefined;
  if (secretText(secret, 'usage-bootstrap-signing') !== 'true') return undefined;
  const bytes = Buffer.from(secret.data?.['token-secret'] ?? '', 'base64');
  return bytes.length === 0 ? undefined : { id, secret: bytes, endMs: bootstrapTokenEndMs(secret) };
}

/** The key of signatures: the whole token, or the part after the dot. */
export function keyOf({ id, secret }: SigningToken, signerKey: SignerKey): Buffer {
  return signerKey === 'token' ? Buffer.concat([Buffer.from(`${id}.`), secret]) : secret;
}
