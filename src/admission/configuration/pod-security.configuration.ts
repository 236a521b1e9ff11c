import type { NamingProfile } from '../../config/naming-profile.js';
import { asLevel, asVersion, levels, type LevelVersion } from '../pod-security/level.js';
import type { Mode, NamespacePolicy } from '../pod-security/namespace-policy.js';
import type { ConfigReader } from './config-reader.js';

/** What holds for namespaces that say nothing, and for whom nothing holds. */
export interface PodSecurityConfiguration {
  readonly defaults: NamespacePolicy;
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
    readonly namespaces: ReadonlySet<string>;
  };
}

const anything: LevelVersion = { level: 'privileged', version: 'latest' };

export const plainPodSecurity: PodSecurityConfiguration = {
  defaults: { enforce: anything, audit: anything, warn: anything },
  exemptions: { usernames: new Set(), runtimeClasses: new Set(), namespaces: new Set() },
};

export function readPodSecurity(config: ConfigReader, naming: NamingProfile): PodSecurityConfiguration {
  const group = naming.group('pod-security.admission.config');
  const isKnown = config.is(
    'PodSecurityConfiguration',
    ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`),
  );
  if (!isKnown) return plainPodSecurity;
  config.only('apiVersion', 'kind', 'defaults', 'exemptions');
  const defaults = config.part('defaults');
  defaults.only('enforce', 'enforce-version', 'audit', 'audit-version', 'warn', 'warn-version');
  const exemptions = config.part('exemptions').only('usernames', 'runtimeClasses', 'namespaces');
  return {
    defaults: {
      enforce: defaultOf(defaults, 'enforce'),
      audit: defaultOf(defaults, 'audit'),
      warn: defaultOf(defaults, 'warn'),
    },
    exemptions: {
      usernames: new Set(exemptions.texts('usernames')),
      runtimeClasses: new Set(exemptions.texts('runtimeClasses')),
      namespaces: new Set(exemptions.texts('namespaces')),
    },
  };
}

function defaultOf(defaults: ConfigReader, mode: Mode): LevelVersion {
  const level = defaults.text(mode);
  const version = defaults.text(`${mode}-version`);
  const known = level === undefined ? anything.level : asLevel(level);
  const since = version === undefined ? anything.version : asVersion(version);
  if (known === undefined) defaults.refuse(mode, `must be one of ${levels.join(', ')}`);
  if (since === undefined) defaults.refuse(`${mode}-version`, 'must be "latest" or "v1.x"');
  return { level: known ?? anything.level, version: since ?? anything.version };
}
