import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { admissionPluginNames, implementedPlugins } from '../../config/admission-plugins.js';
import { parseYamlMapping } from '../../config/config-files.js';
import type { FeatureGates } from '../../config/feature-gates.js';
import { FlagError } from '../../config/flag-error.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isSet, type Fields } from '../../machinery/fields.js';
import { ConfigReader, isMapping } from '../../machinery/config-reader.js';
import { readEventLimits, type EventLimit } from './event-rate-limit.configuration.js';
import {
  plainNodeSelectors,
  readNodeSelectors,
  type NodeSelectorConfiguration,
} from './pod-node-selector.configuration.js';
import { plainPodSecurity, readPodSecurity, type PodSecurityConfiguration } from './pod-security.configuration.js';
import { plainTolerations, readTolerations, type TolerationConfiguration } from './pod-tolerations.configuration.js';
import type { ParsedUsers } from '../../kubeconfig-client/parse-users.js';
import { readManifestDirectories, type ManifestDirectories } from './manifest-directory.configuration.js';
import { readWebhookCredentials } from './webhook.configuration.js';
import { plainQuota, readQuotaConfiguration, type QuotaConfiguration } from './quota.configuration.js';

/** The content of --admission-control-config-file. */
export interface AdmissionConfiguration {
  readonly podSecurity: PodSecurityConfiguration;
  readonly quota: QuotaConfiguration;
  readonly eventLimits: readonly EventLimit[];
  readonly nodeSelectors: NodeSelectorConfiguration;
  readonly tolerations: TolerationConfiguration;
  /** Credentials for webhooks of the two kinds. */
  readonly webhooks: { readonly mutating: ParsedUsers | undefined; readonly validating: ParsedUsers | undefined };
  readonly manifestDirectories: ManifestDirectories;
  /** Unparsed configurations of plug-ins of an embedding program, by the name of the plug-in. */
  readonly others: ReadonlyMap<string, Fields>;
}

export const plainConfiguration: AdmissionConfiguration = {
  podSecurity: plainPodSecurity,
  quota: plainQuota,
  eventLimits: [],
  nodeSelectors: plainNodeSelectors,
  tolerations: plainTolerations,
  webhooks: { mutating: undefined, validating: undefined },
  manifestDirectories: new Map(),
  others: new Map(),
};

const refused = (file: string, problems: readonly string[]) =>
  new FlagError('admission-control-config-file', problems, file);

/** Built-in plug-ins that take a configuration. */
const configurable = [
  'PodSecurity',
  'ResourceQuota',
  'EventRateLimit',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
];

interface ConfigurationOptions {
  /** Names of the plug-ins of an embedding program. */
  readonly ownPlugins?: readonly string[];
  readonly featureGates?: FeatureGates;
}

/**
 * Reads the file. Throws FlagError with all problems, also for unknown fields and for the configuration
 * of a plug-in that takes none: a rule that is not understood must not be ignored.
 */
export function readAdmissionConfiguration(
  file: string | undefined,
  naming: NamingProfile,
  { ownPlugins = [], featureGates = {} }: ConfigurationOptions = {},
): AdmissionConfiguration {
  if (file === undefined) return plainConfiguration;
  const problems: string[] = [];
  const found = new Map<string, ConfigReader>();
  const others = new Map<string, Fields>();
  const root = new ConfigReader(readMapping(file, file), '', problems);
  const group = naming.group('apiserver.config');
  if (root.hasKind('AdmissionConfiguration', [`${group}/v1`, `${naming.group('apiserver')}/v1alpha1`])) {
    for (const plugin of root.allowOnly('apiVersion', 'kind', 'plugins').mappings('plugins')) {
      plugin.allowOnly('name', 'path', 'configuration');
      const name = plugin.string('name') ?? '';
      const isOwn = ownPlugins.includes(name);
      if (!isOwn && !admissionPluginNames.includes(name)) {
        plugin.addProblem('name', `unknown admission plug-in ${name}`);
        continue;
      }
      if (found.has(name)) plugin.addProblem('name', `${name} is configured twice`);
      const configuration = configurationOf(plugin, file);
      found.set(name, new ConfigReader(configuration, `${name}: `, problems));
      if (isOwn) others.set(name, configuration);
      else if (!configurable.includes(name) && Object.keys(configuration).length > 0) {
        const isImplemented = Object.hasOwn(implementedPlugins, name);
        const problem = isImplemented
          ? 'takes no configuration'
          : 'is not implemented, so that it cannot be configured';
        plugin.addProblem('name', `${name} ${problem}`);
      }
    }
  }
  const credentialsOf = (plugin: string) => {
    const configured = found.get(plugin);
    return configured && readWebhookCredentials(configured, naming, dirname(file));
  };
  const podSecurity = found.get('PodSecurity');
  const quota = found.get('ResourceQuota');
  const events = found.get('EventRateLimit');
  const selectors = found.get('PodNodeSelector');
  const tolerations = found.get('PodTolerationRestriction');
  const configuration = {
    podSecurity: podSecurity ? readPodSecurity(podSecurity, naming) : plainPodSecurity,
    quota: quota ? readQuotaConfiguration(quota, naming) : plainQuota,
    eventLimits: events ? readEventLimits(events, naming) : [],
    nodeSelectors: selectors ? readNodeSelectors(selectors) : plainNodeSelectors,
    tolerations: tolerations ? readTolerations(tolerations, naming) : plainTolerations,
    webhooks: {
      mutating: credentialsOf('MutatingAdmissionWebhook'),
      validating: credentialsOf('ValidatingAdmissionWebhook'),
    },
    manifestDirectories: readManifestDirectories(found, { naming, featureGates }),
    others,
  };
  if (problems.length > 0) throw refused(file, problems);
  return configuration;
}

/** Returns the inline configuration of a plug-in, or reads the file that `path` names. */
function configurationOf(plugin: ConfigReader, file: string): Fields {
  const inline = plugin.raw('configuration');
  const path = plugin.string('path') ?? '';
  if (isSet(inline)) {
    if (path !== '') plugin.addProblem('path', 'must not be set together with configuration');
    if (isMapping(inline)) return inline;
    plugin.addProblem('configuration', 'must be a mapping');
    return {};
  }
  return path === '' ? {} : readMapping(resolve(dirname(file), path), file);
}

function readMapping(path: string, file: string): Fields {
  try {
    return { ...parseYamlMapping(readFileSync(path, 'utf8')) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refused(file, [`${path} cannot be read: ${reason}`]);
  }
}
