import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

/** A resource that may be used only in namespaces where a quota covers it. */
interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Limits resource names that contain one of these texts. */
  readonly matchContains: readonly string[];
  /** Limits objects that these scopes match. */
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
  if (!config.hasKind(kind, kind === 'Configuration' ? old : versions)) return plainQuota;
  config.allowOnly('apiVersion', 'kind', 'limitedResources');
  return {
    limitedResources: config.mappings('limitedResources').map((limited) => {
      limited.allowOnly('apiGroup', 'resource', 'matchContains', 'matchScopes');
      const resource = limited.string('resource') ?? '';
      if (resource === '') limited.addProblem('resource', 'must be set');
      return {
        group: limited.string('apiGroup') ?? '',
        resource,
        matchContains: limited.strings('matchContains'),
        matchScopes: limited.mappings('matchScopes').map(readScope),
      };
    }),
  };
}

const scopeNames = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
] as const;
const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function readScope(scope: ConfigReader): ScopeRequirement {
  scope.allowOnly('scopeName', 'operator', 'values');
  const scopeName = scope.requiredOneOf('scopeName', scopeNames) ?? '';
  const values = scope.strings('values');
  const operator = scope.raw('operator') === undefined ? 'Exists' : scope.requiredOneOf('operator', operators);
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (operator && takesValues !== values.length > 0) {
    scope.addProblem('values', `must ${takesValues ? '' : 'not '}be set with operator ${operator}`);
  }
  return { scopeName, operator: operator ?? 'Exists', values };
}
