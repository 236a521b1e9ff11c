import { createCipheriv, createDecipheriv, randomBytes, type CipherGCMTypes } from 'node:crypto';
import { UntransformableError } from '../../storage/value-transforms.js';
import { tooShort, type Cipher } from './cipher.js';

const nonceBytes = 12;
const tagBytes = 16;

/** AES in GCM mode: a random nonce, the encrypted value, the tag. The key of the store is authenticated too. */
export function aesGcm(secret: Buffer): Cipher {
  return {
    encrypt: (value, key) => sealGcm(secret, value, key),
    decrypt: (value, key) => openGcm(secret, value, key),
  };
}

export function sealGcm(secret: Buffer, value: Uint8Array, key: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithmOf(secret), secret, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(key));
  const encrypted = cipher.update(value);
  cipher.final();
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

export function openGcm(secret: Buffer, value: Buffer, key: string): Buffer {
  if (value.length < nonceBytes) throw new UntransformableError(tooShort);
  const end = value.length - tagBytes;
  if (end < nonceBytes) throw notAuthentic();
  const decipher = createDecipheriv(algorithmOf(secret), secret, value.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(key));
  decipher.setAuthTag(value.subarray(end));
  const decrypted = decipher.update(value.subarray(nonceBytes, end));
  try {
    decipher.final();
  } catch {
    throw notAuthentic();
  }
  return decrypted;
}

const algorithmOf = (secret: Buffer) => `aes-${secret.length * 8}-gcm` as CipherGCMTypes;
const notAuthentic = () => new UntransformableError('cipher: message authentication failed');
