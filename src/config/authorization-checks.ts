import type { ServerConfig } from './server-config.js';

const flagsOfModes = [
  ['authorization-mode', 'modes'],
  ['authorization-webhook-config-file', 'webhook.configFile'],
  ['authorization-webhook-version', 'webhook.version'],
  ['authorization-webhook-cache-authorized-ttl', 'webhook.authorizedTtlMs'],
  ['authorization-webhook-cache-unauthorized-ttl', 'webhook.unauthorizedTtlMs'],
] as const;

/**
 * Returns errors about combinations of authorization flags. `isSet` is true for the keys of flags that are given. The
 * file of --authorization-config is checked when it is read.
 */
export function authorizationErrors({ authorization }: ServerConfig, isSet: (key: string) => boolean): string[] {
  const { modes, configFile, policyFile, webhook } = authorization;
  if (configFile !== undefined) {
    return flagsOfModes
      .filter(([, key]) => isSet(`authorization.${key}`))
      .map(([flag]) => `--authorization-config, --${flag}: cannot be given together; name the authorizers in the file`);
  }
  const errors: string[] = [];
  if (modes.length === 0) errors.push('--authorization-mode: at least one mode must be named');
  else if (modes.includes('ABAC') !== (policyFile !== undefined)) {
    errors.push('--authorization-policy-file, --authorization-mode=ABAC: give both or neither');
  }
  if (modes.includes('Webhook') !== (webhook.configFile !== undefined)) {
    errors.push('--authorization-webhook-config-file, --authorization-mode=Webhook: give both or neither');
  }
  return errors;
}
