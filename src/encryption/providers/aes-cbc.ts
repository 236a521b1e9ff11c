import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { UntransformableError } from '../../storage/value-transforms.js';
import { tooShort, type Cipher } from './cipher.js';

const blockBytes = 16;

/** AES in CBC mode: a random initialization vector, then the blocks with PKCS #7 padding. */
export function aesCbc(secret: Buffer): Cipher {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    encrypt(value) {
      const vector = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, secret, vector);
      return Buffer.concat([vector, cipher.update(value), cipher.final()]);
    },
    decrypt(value) {
      if (value.length < blockBytes) throw new UntransformableError(tooShort);
      if (value.length % blockBytes !== 0) {
        throw new UntransformableError('the stored data is not a multiple of the block size');
      }
      // Padding is removed here, for the errors of kube-apiserver.
      const decipher = createDecipheriv(algorithm, secret, value.subarray(0, blockBytes)).setAutoPadding(false);
      return withoutPadding(decipher.update(value.subarray(blockBytes)));
    },
  };
}

function withoutPadding(padded: Buffer): Buffer {
  const padding = padded.at(-1) ?? 0;
  const size = padded.length - padding;
  if (padding === 0 || size < 0) throw new UntransformableError('invalid PKCS7 data (empty or not padded)');
  for (let at = size; at < padded.length; at++) {
    if (padded[at] !== padding) throw new UntransformableError('invalid padding on input');
  }
  return padded.subarray(0, size);
}
