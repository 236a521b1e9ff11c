import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { reasonOf } from '../../certificates/certificate-error.js';
import type { FeatureGates } from '../../config/feature-gates.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

const policyPlugins = ['MutatingAdmissionPolicy', 'ValidatingAdmissionPolicy'] as const;
const webhookPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'] as const;

/** Plug-ins that read manifests of a directory, besides the stored objects. */
export type ManifestPlugin = (typeof policyPlugins)[number] | (typeof webhookPlugins)[number];

/** `staticManifestsDir` of each plug-in that has one. */
export type ManifestDirectories = ReadonlyMap<ManifestPlugin, string>;

const gate = 'ManifestBasedAdmissionControlConfig';

interface Options {
  readonly naming: NamingProfile;
  readonly featureGates: FeatureGates;
}

/** Reads the configurations of policies, which have no other field, and `staticManifestsDir` of those of webhooks. */
export function readManifestDirectories(
  configured: ReadonlyMap<string, ConfigReader>,
  { naming, featureGates }: Options,
): ManifestDirectories {
  const directories = new Map<ManifestPlugin, string>();
  for (const plugin of [...policyPlugins, ...webhookPlugins]) {
    const config = configured.get(plugin);
    if (!config || config.names().length === 0) continue;
    const isPolicy = policyPlugins.some((name) => name === plugin);
    if (isPolicy && !isPolicyConfiguration(config, plugin, naming)) continue;
    const directory = config.string('staticManifestsDir') ?? '';
    if (directory === '') continue;
    const problem = featureGates[gate] === true ? problemOf(directory) : `requires the feature gate ${gate}`;
    if (problem !== undefined) config.addProblem('staticManifestsDir', problem);
    directories.set(plugin, directory);
  }
  return directories;
}

function isPolicyConfiguration(config: ConfigReader, plugin: ManifestPlugin, naming: NamingProfile): boolean {
  const isRight = config.hasKind(`${plugin}Configuration`, [`${naming.group('apiserver.config')}/v1`]);
  if (isRight) config.allowOnly('apiVersion', 'kind', 'staticManifestsDir');
  return isRight;
}

function problemOf(directory: string): string | undefined {
  if (!isAbsolute(directory)) return 'must be an absolute path';
  try {
    return statSync(directory).isDirectory() ? undefined : 'must be a directory';
  } catch (error) {
    return `cannot be read: ${reasonOf(error)}`;
  }
}
