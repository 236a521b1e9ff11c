import type { ValueTransformer } from '../storage/value-transforms.js';
import type {
  EncryptionConfiguration,
  KmsConfiguration,
  ProviderConfiguration,
} from './configuration/encryption-configuration.js';
import { identity, PrefixedTransformer, type ObserveConversion, type Prefixed } from './prefixed-transformer.js';
import { keyedProvider } from './providers/keyed-provider.js';
import type { TransformerRules } from './resource-transforms.js';

interface Options {
  /** Returns the provider of a KMS plug-in. Called once for each entry. */
  readonly kmsProvider: (kms: KmsConfiguration) => Prefixed;
  readonly observe?: (rule: string) => ObserveConversion;
}

/** Returns a transformer for each resource of the configuration. Providers of several entries for one resource add up. */
export function makeRules({ rules }: EncryptionConfiguration, { kmsProvider, observe }: Options): TransformerRules {
  const providersOf = new Map<string, Prefixed[]>();
  const make = (one: ProviderConfiguration): Prefixed => {
    if (one.type === 'identity') return { prefix: '', transformer: identity };
    return one.type === 'kms' ? kmsProvider(one.kms) : keyedProvider(one.type, one.keys);
  };
  for (const { resources, providers } of rules) {
    const made = providers.map(make);
    for (const resource of resources) {
      providersOf.set(resource, [...(providersOf.get(resource) ?? []), ...made]);
    }
  }
  const transformers = new Map<string, ValueTransformer>();
  for (const [resource, providers] of providersOf) {
    const options = { unmatched: 'no matching prefix found', observe: observe?.(resource) };
    transformers.set(resource, new PrefixedTransformer(providers, options));
  }
  return transformers;
}
