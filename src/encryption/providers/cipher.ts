/** Encrypts values with one key, in the bytes of kube-apiserver without the prefixes of provider and key. */
export interface Cipher {
  /** `key`: the key of the store, to which some ciphers bind the value. */
  encrypt(value: Uint8Array, key: string): Buffer;
  /** Throws UntransformableError. */
  decrypt(value: Buffer, key: string): Buffer;
}

export const tooShort = 'the stored data was shorter than the required size';
