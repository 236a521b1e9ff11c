import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { admissionPluginNames } from '../../config/admission-plugins.js';
import { parseYamlMapping } from '../../config/config-files.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isSet, type Fields } from '../../machinery/fields.js';
import { ConfigReader, isMapping } from './config-reader.js';
import { readEventLimits, type EventLimit } from './event-rate-limit.configuration.js';
import { plainPodSecurity, readPodSecurity, type PodSecurityConfiguration } from './pod-security.configuration.js';
import { plainQuota, readQuotaConfiguration, type QuotaConfiguration } from './quota.configuration.js';

/** --admission-control-config-file: what plug-ins are told beyond their flags. */
export interface AdmissionConfiguration {
  readonly podSecurity: PodSecurityConfiguration;
  readonly quota: QuotaConfiguration;
  readonly eventLimits: readonly EventLimit[];
  /** As they stand in the file, by the plug-in's name: those of plug-ins that read their own. */
  readonly others: ReadonlyMap<string, Fields>;
}

export const plainConfiguration: AdmissionConfiguration = {
  podSecurity: plainPodSecurity,
  quota: plainQuota,
  eventLimits: [],
  others: new Map(),
};

export class AdmissionConfigurationError extends Error {
  override readonly name = 'AdmissionConfigurationError';
  constructor(file: string, problems: readonly string[]) {
    super(`--admission-control-config-file: ${file}: ${problems.join('; ')}`);
  }
}

/** Throws AdmissionConfigurationError, with everything that is wrong: a rule that is not understood is not left out. */
export function readAdmissionConfiguration(file: string | undefined, naming: NamingProfile): AdmissionConfiguration {
  if (file === undefined) return plainConfiguration;
  const problems: string[] = [];
  const found = new Map<string, ConfigReader>();
  const others = new Map<string, Fields>();
  const root = new ConfigReader(readMapping(file, file), '', problems);
  const group = naming.group('apiserver.config');
  if (root.is('AdmissionConfiguration', [`${group}/v1`, `${naming.group('apiserver')}/v1alpha1`])) {
    for (const plugin of root.only('apiVersion', 'kind', 'plugins').parts('plugins')) {
      plugin.only('name', 'path', 'configuration');
      const name = plugin.text('name') ?? '';
      if (!admissionPluginNames.includes(name)) plugin.refuse('name', `unknown admission plug-in ${name}`);
      if (found.has(name)) plugin.refuse('name', `${name} is configured twice`);
      const configuration = configurationOf(plugin, file);
      found.set(name, new ConfigReader(configuration, `${name}: `, problems));
      others.set(name, configuration);
    }
  }
  const podSecurity = found.get('PodSecurity');
  const quota = found.get('ResourceQuota');
  const events = found.get('EventRateLimit');
  const configuration = {
    podSecurity: podSecurity ? readPodSecurity(podSecurity, naming) : plainPodSecurity,
    quota: quota ? readQuotaConfiguration(quota, naming) : plainQuota,
    eventLimits: events ? readEventLimits(events, naming) : [],
    others,
  };
  if (problems.length > 0) throw new AdmissionConfigurationError(file, problems);
  return configuration;
}

/** In place, or in a file of its own beside this one. */
function configurationOf(plugin: ConfigReader, file: string): Fields {
  const inline = plugin.raw('configuration');
  const path = plugin.text('path') ?? '';
  if (isSet(inline)) {
    if (path !== '') plugin.refuse('path', 'cannot be given beside configuration');
    if (isMapping(inline)) return inline;
    plugin.refuse('configuration', 'must be a mapping');
    return {};
  }
  return path === '' ? {} : readMapping(resolve(dirname(file), path), file);
}

function readMapping(path: string, file: string): Fields {
  try {
    return { ...parseYamlMapping(readFileSync(path, 'utf8')) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AdmissionConfigurationError(file, [`${path} cannot be read: ${reason}`]);
  }
}
