import type { NamingProfile } from '../../config/naming-profile.js';
import { parseLevel, parseVersion, levels, type LevelVersion } from '../pod-security/level.js';
import type { Mode, NamespacePolicy } from '../pod-security/namespace-policy.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

/** The policy of namespaces without labels, and exemptions from all policies. */
export interface PodSecurityConfiguration {
  readonly defaults: NamespacePolicy;
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
    readonly namespaces: ReadonlySet<string>;
  };
}

const privileged: LevelVersion = { level: 'privileged', version: 'latest' };

export const plainPodSecurity: PodSecurityConfiguration = {
  defaults: { enforce: privileged, audit: privileged, warn: privileged },
  exemptions: { usernames: new Set(), runtimeClasses: new Set(), namespaces: new Set() },
};

export function readPodSecurity(config: ConfigReader, naming: NamingProfile): PodSecurityConfiguration {
  const group = naming.group('pod-security.admission.config');
  const isKnown = config.hasKind(
    'PodSecurityConfiguration',
    ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`),
  );
  if (!isKnown) return plainPodSecurity;
  config.allowOnly('apiVersion', 'kind', 'defaults', 'exemptions');
  const defaults = config.mapping('defaults');
  defaults.allowOnly('enforce', 'enforce-version', 'audit', 'audit-version', 'warn', 'warn-version');
  const exemptions = config.mapping('exemptions').allowOnly('usernames', 'runtimeClasses', 'namespaces');
  return {
    defaults: {
      enforce: defaultOf(defaults, 'enforce'),
      audit: defaultOf(defaults, 'audit'),
      warn: defaultOf(defaults, 'warn'),
    },
    exemptions: {
      usernames: new Set(exemptions.strings('usernames')),
      runtimeClasses: new Set(exemptions.strings('runtimeClasses')),
      namespaces: new Set(exemptions.strings('namespaces')),
    },
  };
}

function defaultOf(defaults: ConfigReader, mode: Mode): LevelVersion {
  const level = defaults.string(mode);
  const version = defaults.string(`${mode}-version`);
  const known = level === undefined ? privileged.level : parseLevel(level);
  const since = version === undefined ? privileged.version : parseVersion(version);
  if (known === undefined) defaults.addProblem(mode, `must be one of ${levels.join(', ')}`);
  if (since === undefined) defaults.addProblem(`${mode}-version`, 'must be "latest" or "v1.x"');
  return { level: known ?? privileged.level, version: since ?? privileged.version };
}
