import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { NamingProfile } from '../../config/naming-profile.js';
import { parseUsers, type ParsedUsers } from '../../kubeconfig-client/parse-users.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

/**
 * Reads `kubeConfigFile` of a WebhookAdmissionConfiguration: a kubeconfig whose users are named by the hosts of webhooks.
 * A relative path is relative to the directory of --admission-control-config-file.
 */
export function readWebhookCredentials(
  config: ConfigReader,
  naming: NamingProfile,
  directory: string,
): ParsedUsers | undefined {
  if (config.names().length === 0) return undefined;
  const groups = [`${naming.group('apiserver.config')}/v1`, `${naming.group('apiserver.config')}/v1alpha1`];
  if (!config.hasKind('WebhookAdmissionConfiguration', groups)) return undefined;
  config.allowOnly('apiVersion', 'kind', 'kubeConfigFile', 'staticManifestsDir');
  const path = config.string('kubeConfigFile') ?? '';
  if (path === '') return undefined;
  const location = resolve(directory, path);
  try {
    const options = { location, directory: dirname(location), apiDomain: naming.apiDomain };
    return parseUsers(readFileSync(location), options);
  } catch (error) {
    config.addProblem('kubeConfigFile', `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
