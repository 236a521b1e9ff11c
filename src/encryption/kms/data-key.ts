import { createHmac, randomBytes } from 'node:crypto';
import { UntransformableError } from '../../storage/value-transforms.js';
import { openGcm, sealGcm } from '../providers/aes-gcm.js';
import { tooShort, type Cipher } from '../providers/cipher.js';
import { sourceTypes } from './encrypted-object.js';

const infoBytes = 32;
export const seedBytes = 32;

/** Returns the cipher of a decrypted data encryption key or seed. Throws UntransformableError. */
export function dataCipher(plaintext: Buffer, sourceType: number): Cipher {
  if (sourceType === sourceTypes.seed) {
    if (plaintext.length < seedBytes) {
      throw new UntransformableError(`invalid seed length ${plaintext.length} used for key generation`);
    }
    return seedCipher(plaintext);
  }
  if (![16, 24, 32].includes(plaintext.length)) {
    throw new UntransformableError(`crypto/aes: invalid key size ${plaintext.length}`);
  }
  return {
    encrypt: (value, key) => sealGcm(plaintext, value, key),
    decrypt: (value, key) => openGcm(plaintext, value, key),
  };
}

/** AES-GCM with a key for each value, which HKDF-Expand derives from the seed and 32 random bytes before the value. */
function seedCipher(seed: Buffer): Cipher {
  return {
    encrypt(value, key) {
      const info = randomBytes(infoBytes);
      return Buffer.concat([info, sealGcm(expand(seed, info), value, key)]);
    },
    decrypt(value, key) {
      if (value.length < infoBytes) throw new UntransformableError(tooShort);
      return openGcm(expand(seed, value.subarray(0, infoBytes)), value.subarray(infoBytes), key);
    },
  };
}

/** The first block of HKDF-Expand with SHA-256 (RFC 5869), which is as long as the key. */
function expand(seed: Buffer, info: Buffer): Buffer {
  return createHmac('sha256', seed).update(info).update(firstBlock).digest();
}
const firstBlock = Buffer.from([1]);
