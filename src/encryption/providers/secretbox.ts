import { randomBytes } from 'node:crypto';
import { secretbox as box } from '@noble/ciphers/salsa';
import { UntransformableError } from '../../storage/value-transforms.js';
import { tooShort, type Cipher } from './cipher.js';

const nonceBytes = 24;
const tagBytes = 16;

/** XSalsa20 and Poly1305, which OpenSSL does not have: a random nonce, the tag, the encrypted value. */
export function secretbox(secret: Buffer): Cipher {
  return {
    encrypt(value) {
      const nonce = randomBytes(nonceBytes);
      return Buffer.concat([nonce, box(secret, nonce).seal(value)]);
    },
    decrypt(value) {
      if (value.length < nonceBytes + tagBytes) throw new UntransformableError(tooShort);
      let decrypted: Uint8Array;
      try {
        decrypted = box(secret, value.subarray(0, nonceBytes)).open(value.subarray(nonceBytes));
      } catch {
        // The text of kube-apiserver for a wrong key or a changed value.
        throw new UntransformableError('output array was not large enough for encryption');
      }
      return Buffer.from(decrypted.buffer, decrypted.byteOffset, decrypted.byteLength);
    },
  };
}
