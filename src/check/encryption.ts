import type { KeyValue } from '../storage/kv-store.js';
import { isEncrypted } from '../storage/value-transforms.js';

const markLength = 'k8s:enc:'.length;
const providerLengthMax = 20;

/** Returns why a value that is encrypted at rest cannot be read; undefined for values that are not, or are decrypted. */
export function encryptionOf({ value, failure }: Pick<KeyValue, 'value' | 'failure'>): string | undefined {
  if (!isEncrypted(value)) return failure?.message;
  const rest = value.toString('latin1', markLength, markLength + providerLengthMax + 1);
  const provider = /^[a-z]+(?=:)/.exec(rest)?.[0];
  const by = provider === undefined ? '' : ` (provider ${provider})`;
  return failure
    ? `encrypted at rest${by}, not with a key of --encryption-provider-config: ${failure.message}`
    : `encrypted at rest${by}: give the server's --encryption-provider-config`;
}
