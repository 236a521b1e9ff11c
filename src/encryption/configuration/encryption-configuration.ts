import type { KeyedProviderName, NamedKey } from '../providers/keyed-provider.js';

/** One entry of `providers`. */
export type ProviderConfiguration =
  | { readonly type: KeyedProviderName; readonly keys: readonly NamedKey[] }
  | { readonly type: 'kms'; readonly kms: KmsConfiguration }
  | { readonly type: 'identity' };

export interface KmsConfiguration {
  readonly name: string;
  /** Path of the Unix socket; begins with `@` for an abstract one. */
  readonly socketPath: string;
  readonly timeoutMs: number;
}

/** One entry of `resources`: the first provider writes, all of them read. */
export interface ResourceRule {
  /** As in rules: `secrets`, `widgets.example.com`, `*.apps`, `*.`, `*.*`. */
  readonly resources: readonly string[];
  readonly providers: readonly ProviderConfiguration[];
}

/** The content of --encryption-provider-config. */
export interface EncryptionConfiguration {
  readonly rules: readonly ResourceRule[];
}
