import { UntransformableError, type ValueTransformer } from '../../storage/value-transforms.js';
import { PrefixedTransformer, type Prefixed } from '../prefixed-transformer.js';
import { aesCbc } from './aes-cbc.js';
import { aesGcm } from './aes-gcm.js';
import type { Cipher } from './cipher.js';
import { secretbox } from './secretbox.js';

/** A provider with keys in the configuration. */
export type KeyedProviderName = 'aescbc' | 'aesgcm' | 'secretbox';

export interface NamedKey {
  readonly name: string;
  readonly secret: Buffer;
}

const ciphers: Readonly<Record<KeyedProviderName, (secret: Buffer) => Cipher>> = {
  aescbc: aesCbc,
  aesgcm: aesGcm,
  secretbox,
};

/** Returns a provider that writes with its first key and reads with the key that the value names. */
export function keyedProvider(name: KeyedProviderName, keys: readonly NamedKey[]): Prefixed {
  const entries = keys.map((key) => ({
    prefix: `${key.name}:`,
    transformer: transformerOf(ciphers[name](key.secret)),
  }));
  const title = name === 'secretbox' ? 'Secretbox' : 'AES';
  const unmatched = `no matching key was found for the provided ${title} transformer`;
  return { prefix: `k8s:enc:${name}:v1:`, transformer: new PrefixedTransformer(entries, { unmatched }) };
}

function transformerOf(cipher: Cipher): ValueTransformer {
  return {
    fromStorage(value, key) {
      try {
        return { value: cipher.decrypt(value, key), isStale: false };
      } catch (error) {
        if (!(error instanceof UntransformableError)) throw error;
        return { value, isStale: false, failure: error };
      }
    },
    toStorage: (value, key) => cipher.encrypt(value, key),
  };
}
