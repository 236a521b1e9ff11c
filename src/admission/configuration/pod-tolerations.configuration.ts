import type { Toleration } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

/** Tolerations of Pods in namespaces without annotations. */
export interface TolerationConfiguration {
  readonly default: readonly Toleration[];
  /** The tolerations that Pods may have; all if empty. */
  readonly whitelist: readonly Toleration[];
}

export const plainTolerations: TolerationConfiguration = { default: [], whitelist: [] };

export function readTolerations(config: ConfigReader, naming: NamingProfile): TolerationConfiguration {
  const apiVersion = `${naming.group('podtolerationrestriction.admission')}/v1alpha1`;
  if (!config.hasKind('Configuration', [apiVersion])) return plainTolerations;
  config.allowOnly('apiVersion', 'kind', 'default', 'whitelist');
  return {
    default: config.mappings('default').map(readToleration),
    whitelist: config.mappings('whitelist').map(readToleration),
  };
}

function readToleration(config: ConfigReader): Toleration {
  config.allowOnly('key', 'operator', 'value', 'effect', 'tolerationSeconds');
  const key = config.string('key');
  const operator = config.oneOf('operator', ['', 'Equal', 'Exists']);
  const value = config.string('value');
  const effect = config.oneOf('effect', ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']);
  const tolerationSeconds = config.integer('tolerationSeconds');
  // As for tolerations of Pods.
  if (!key && operator !== 'Exists') config.addProblem('operator', 'must be Exists without a key');
  if (value && operator === 'Exists') config.addProblem('value', 'must not be set with operator Exists');
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    config.addProblem('effect', 'must be NoExecute with tolerationSeconds');
  }
  return {
    ...(key && { key }),
    ...(operator && { operator }),
    ...(value && { value }),
    ...(effect && { effect }),
    ...(tolerationSeconds !== undefined && { tolerationSeconds }),
  };
}
