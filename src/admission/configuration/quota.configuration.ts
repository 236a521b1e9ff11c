import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from './config-reader.js';

/** What may only be had where a quota covers it. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Usages whose names hold one of these texts. */
  readonly matchContains: readonly string[];
  /** Objects that are of these scopes. */
  readonly matchScopes: readonly ScopeRequirement[];
}

export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export interface QuotaConfiguration {
  readonly limitedResources: readonly LimitedResource[];
}

export const plainQuota: QuotaConfiguration = { limitedResources: [] };

export function readQuotaConfiguration(config: ConfigReader, naming: NamingProfile): QuotaConfiguration {
  const versions = [`${naming.group('apiserver.config')}/v1`];
  const kind = config.raw('kind') === 'Configuration' ? 'Configuration' : 'ResourceQuotaConfiguration';
  const old = ['v1alpha1', 'v1beta1'].map((version) => `${naming.group('resourcequota.admission')}/${version}`);
  if (!config.is(kind, kind === 'Configuration' ? old : versions)) return plainQuota;
  config.only('apiVersion', 'kind', 'limitedResources');
  return {
    limitedResources: config.parts('limitedResources').map((limited) => {
      limited.only('apiGroup', 'resource', 'matchContains', 'matchScopes');
      const resource = limited.text('resource') ?? '';
      if (resource === '') limited.refuse('resource', 'must be given');
      return {
        group: limited.text('apiGroup') ?? '',
        resource,
        matchContains: limited.texts('matchContains'),
        matchScopes: limited.parts('matchScopes').map((scope) => ({
          scopeName: scope.text('scopeName') ?? '',
          operator: scope.text('operator') ?? 'Exists',
          values: scope.texts('values'),
        })),
      };
    }),
  };
}
