import type { TokenUses } from '../auth/token-uses.js';
import { single, type MetricFamily } from './metric-family.js';

/** Metrics of authentications with service account tokens, with the names of kube-apiserver. */
export function tokenFamilies(uses: TokenUses): MetricFamily[] {
  const total = (name: string, help: string, read: () => number) =>
    single(`serviceaccount_${name}_total`, 'counter', `[ALPHA] ${help}`, read);
  return [
    total('valid_tokens', 'Service account tokens of Pods, used before they should be renewed.', () => uses.valid),
    total('stale_tokens', 'Service account tokens of Pods, used after they should be renewed.', () => uses.stale),
    total('legacy_tokens', 'Service account tokens in Secrets, used.', () => uses.inSecrets),
    total(
      'legacy_manual_token_uses',
      'Service account tokens in Secrets that were created by a user, used.',
      () => uses.inManualSecrets,
    ),
    total(
      'legacy_auto_token_uses',
      'Service account tokens in Secrets that were created for the ServiceAccount, used.',
      () => uses.inGeneratedSecrets,
    ),
    total(
      'invalid_legacy_auto_token_uses',
      'Service account tokens in Secrets that are labeled as invalid, used.',
      () => uses.invalidated,
    ),
  ];
}
